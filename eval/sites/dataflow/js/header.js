/** DataFlow: the icons of the header and their windows. */
(function () {
  'use strict';
  const { find, svg, state, save, toast, day } = window.flow;
  const { exportList, bindExports } = window.flowReports;

  const rows = (entries) => `<ul class="list">${entries.map(([title, text, mark]) => `<li><span class="grow">${title}<small>${text}</small></span>${mark ? `<span class="tag">${mark}</span>` : ''}</li>`).join('')}</ul>`;

  const SWITCHES = [
    ['emailNotifications', 'E-mail notifications', 'Alerts about goals and unusual figures'],
    ['pushNotifications', 'Push notifications', 'On the phone, for urgent alerts only'],
    ['weeklyReports', 'Weekly reports', 'A summary every Monday morning'],
  ];
  const settingsForm = () => `<form id="settings-form">${SWITCHES.map(([name, title, text]) => `<label class="switch"><span>${title}<small>${text}</small></span><input type="checkbox" role="switch" name="${name}" ${state.settings[name] ? 'checked' : ''}></label>`).join('')}
    <p class="row" style="margin-top:14px"><span class="grow"></span><button type="button" data-close>Cancel</button><button class="primary" id="settings-save">Save</button></p></form>`;

  function bindSettings(dialog, close) {
    const form = find('form', dialog);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      SWITCHES.forEach(([name]) => { state.settings[name] = form[name].checked; });
      save();
      tracker.track('settings_save', { ...state.settings });
      close('save');
      toast('Settings saved');
    });
  }

  const WINDOWS = [
    ['saved', 'Saved views', '<path d="M6 3h12v18l-6-4.5L6 21z"/>', () => rows([['Board meeting', 'Four widgets, current year', ''], ['Channels in spring', 'Filter: Q2', ''], ['Returns', 'Shared by Mika', 'Shared']])],
    ['downloads', 'Downloads', '<path d="M12 3v11M7.5 10l4.5 4.5 4.5-4.5M4 17v4h16v-4"/>', exportList, bindExports],
    ['history', 'History', '<circle cx="12" cy="12" r="9"/><path d="M12 7v5.5l3.5 2"/>', () => rows([['Goal “Returning customers” changed', `${day(-1)}, Robin Vale`, ''], ['Widget “Refunds” moved', `${day(-2)}, Mika Orr`, ''], ['Data source “Shop” renewed', `${day(-3)}, automatic`, '']])],
    ['favorites', 'Favorites', '<path d="M12 3.5l2.7 5.6 6 .8-4.4 4.2 1.1 6-5.4-2.9-5.4 2.9 1.1-6L3.3 9.9l6-.8z"/>', () => rows([['Revenue by channel', 'Chart', ''], ['Top customers', 'Table', '']])],
    ['notifications', 'Notifications', '<path d="M6 10a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20.5a2.2 2.2 0 0 0 4 0"/>', () => rows([['Refunds are back to normal', day(0), 'New'], ['Goal reached: 1,000 orders in a month', day(-2), ''], ['The source “Ledger” was unreachable for 4 minutes', day(-5), '']])],
    ['settings', 'Settings', '<circle cx="12" cy="12" r="3.2"/><path d="M12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M5.3 5.3l2.1 2.1M16.6 16.6l2.1 2.1M5.3 18.7l2.1-2.1M16.6 7.4l2.1-2.1"/><circle cx="12" cy="12" r="6.5"/>', settingsForm, bindSettings],
    ['messages', 'Messages', '<path d="M3 5h18v14H3zM3 6l9 7 9-7"/>', () => rows([['Mika Orr', 'Can you look at the refunds of the third quarter?', ''], ['Jonah Pell', 'The board likes the new chart.', '']])],
  ];

  find('#header-icons').innerHTML = WINDOWS.map(([, , shapes], i) => `<button type="button" class="icon" id="header-icon-${i + 1}" aria-haspopup="dialog">${svg(shapes)}</button>`).join('');
  WINDOWS.forEach(([name, title, , body, bind], i) => find(`#header-icon-${i + 1}`).addEventListener('click', () => {
    const { dialog, close } = window.flowModal(name, title, body());
    if (bind) bind(dialog, close);
  }));
})();
