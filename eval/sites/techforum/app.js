// TechForum: feed, search results, reactions and comments.

import { feed, postById, search, posts } from './posts.js';
import * as store from './store.js';
import { activity, card, dialog, escapeHtml, findComment, topLevelComments, ui } from './view.js';

const PAGE_SIZE = 12;
const VALUE_MAX = 500;

window.tracker = new AgentTracker('techforum', 'medium');

const track = (name, data) => window.tracker.track(name, data);
const feedBox = document.getElementById('feed');
const dialogBox = document.getElementById('dialog-box');
const moreButton = document.getElementById('show-more');
const query = new URLSearchParams(location.search).get('q') || '';
const isSearchPage = feedBox.dataset.list === 'search';
let tab = 'recommended';
let shown = isSearchPage ? posts.length : PAGE_SIZE;
let scrollBeforeDialog = 0;
let toastTimer = 0;

function renderFeed() {
  const list = isSearchPage ? search(query) : feed(tab);
  feedBox.innerHTML = list.slice(0, shown).map(card).join('');
  if (moreButton) moreButton.hidden = list.length <= shown;
  if (isSearchPage) renderSearchHead(list.length);
  renderActivity();
}

function renderSearchHead(total) {
  const results = total === 1 ? '1 result' : `${total || 'No'} results`;
  document.getElementById('results-title').innerHTML = `${results} for “${escapeHtml(query)}”`;
  document.getElementById('main-search').value = query;
}

function renderActivity() {
  document.getElementById('activity').innerHTML = activity();
}

/** Builds a question's card, and its dialog if open, anew; the focus stays on the same control. */
function refresh(questionId) {
  const focused = document.activeElement;
  const path = focused && focused.closest('[data-question]') ? controlPath(focused) : null;
  const old = feedBox.querySelector(`[data-question="${questionId}"]`);
  if (old) {
    const holder = document.createElement('template');
    holder.innerHTML = card(postById(questionId));
    old.replaceWith(holder.content.firstElementChild);
  }
  if (ui.dialog === questionId) {
    const list = dialogBox.querySelector('.dialog-list');
    const top = list ? list.scrollTop : 0;
    dialogBox.innerHTML = dialog(postById(questionId));
    dialogBox.querySelector('.dialog-list').scrollTop = top;
  }
  renderActivity();
  const again = path && document.querySelector(path);
  if (again) again.focus({ preventScroll: true });
}

function controlPath(control) {
  const root = dialogBox.contains(control) ? '#dialog-box' : '#feed';
  const comment = control.closest('[data-comment]');
  const scope = `${root} [data-question="${control.closest('[data-question]').dataset.question}"]`;
  if (control.id) return `#${control.id}`;
  const inside = comment ? ` [data-comment="${comment.dataset.comment}"]` : '';
  return control.dataset.action ? `${scope}${inside} [data-action="${control.dataset.action}"]` : null;
}

function trackAction(action, post) {
  track('answer_action', { action, questionId: post.id, questionTitle: post.title });
}

function trackReactions() {
  track('reactions_change', {
    upvoted: store.idsOf('upvoted'),
    downvoted: store.idsOf('downvoted'),
    collected: store.idsOf('collected'),
  });
}

function setUpvote(post, voted) {
  if (store.set('upvoted', post.id, voted)) {
    track('upvote_toggle', { questionId: post.id, questionTitle: post.title, voted });
  }
}

function setDownvote(post, downvoted) {
  if (store.set('downvoted', post.id, downvoted)) {
    track('downvote_toggle', { questionId: post.id, questionTitle: post.title, downvoted });
  }
}

function openReply(questionId, commentId, place) {
  ui.replyTo = { commentId, place };
  track('comment_reply_click', { questionId, commentId });
  refresh(questionId);
  const editor = document.getElementById(`reply-input-${commentId}`);
  editor.focus({ preventScroll: true });
  editor.scrollIntoView({ block: 'nearest' });
}

function openDialog(post) {
  ui.dialog = post.id;
  ui.replyTo = null;
  track('view_all_comments_click', { questionId: post.id, total: topLevelComments(post).length });
  scrollBeforeDialog = window.scrollY;
  document.body.classList.add('locked');
  document.body.style.top = `-${scrollBeforeDialog}px`;
  refresh(post.id);
  document.getElementById('dialog-title').focus({ preventScroll: true });
}

function closeDialog(method) {
  const questionId = ui.dialog;
  ui.dialog = null;
  ui.replyTo = null;
  dialogBox.innerHTML = '';
  document.body.classList.remove('locked');
  document.body.style.top = '';
  window.scrollTo(0, scrollBeforeDialog);
  track('comments_dialog_close', { questionId, method });
  refresh(questionId);
}

function toast(text) {
  const box = document.getElementById('toast');
  box.textContent = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.textContent = ''; }, 4000);
}

async function copyLink(post) {
  const link = new URL(`search.html?q=${encodeURIComponent(post.title)}`, location.href).href;
  try {
    await navigator.clipboard.writeText(link);
    toast('Link copied');
  } catch {
    toast(link);
  }
}

const cardActions = {
  upvote(post) {
    trackAction('upvote', post);
    setUpvote(post, !store.has('upvoted', post.id));
    if (store.has('upvoted', post.id)) setDownvote(post, false);
    trackReactions();
  },
  downvote(post) {
    trackAction('downvote', post);
    track('downvote_click', { questionId: post.id });
    setDownvote(post, !store.has('downvoted', post.id));
    if (store.has('downvoted', post.id)) setUpvote(post, false);
    trackReactions();
  },
  comment(post) {
    const open = !ui.expanded.has(post.id);
    trackAction('comment', post);
    track('comment_button_click', { questionId: post.id, open });
    if (open) ui.expanded.add(post.id);
    else ui.expanded.delete(post.id);
    track(open ? 'comment_section_expand' : 'comment_section_collapse', { questionId: post.id });
  },
  share(post) {
    trackAction('share', post);
    track('share_click', { questionId: post.id });
    copyLink(post);
  },
  collect(post) {
    const collected = !store.has('collected', post.id);
    trackAction('collect', post);
    track('collect_click', { questionId: post.id });
    store.set('collected', post.id, collected);
    track('collect_toggle', { questionId: post.id, questionTitle: post.title, collected });
    trackReactions();
  },
  'view-all': openDialog,
};

const commentActions = {
  'comment-like'(questionId, commentId) {
    const liked = !store.has('liked', commentId);
    store.set('liked', commentId, liked);
    track('comment_like', { questionId, commentId, liked });
    refresh(questionId);
  },
  'comment-reply'(questionId, commentId, place) {
    openReply(questionId, commentId, place);
  },
  replies(questionId, commentId) {
    const expanded = !ui.openReplies.has(commentId);
    if (expanded) ui.openReplies.add(commentId);
    else ui.openReplies.delete(commentId);
    track('comment_replies_toggle', { questionId, commentId, expanded });
    refresh(questionId);
  },
  'reply-cancel'(questionId) {
    ui.replyTo = null;
    refresh(questionId);
  },
};

const pageActions = {
  'close-dialog'(button) {
    closeDialog(button.classList.contains('backdrop') ? 'backdrop' : 'button');
  },
  tab(button) {
    tab = button.dataset.tab;
    shown = PAGE_SIZE;
    for (const other of document.querySelectorAll('[data-action="tab"]')) {
      other.setAttribute('aria-pressed', String(other === button));
    }
    track('feed_tab', { tab });
    renderFeed();
  },
  more() {
    shown += PAGE_SIZE;
    renderFeed();
    track('feed_more', { shown: feedBox.children.length });
  },
};

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element && event.target.closest('[data-action]');
  if (!button) return;
  const { action } = button.dataset;
  if (action in pageActions) {
    pageActions[action](button);
    return;
  }
  const questionId = Number(button.closest('[data-question]').dataset.question);
  if (action in cardActions) {
    cardActions[action](postById(questionId));
    if (action !== 'view-all') refresh(questionId);
    return;
  }
  const commentId = Number(button.closest('[data-comment]').dataset.comment);
  commentActions[action](questionId, commentId, dialogBox.contains(button) ? 'dialog' : 'card');
});

document.addEventListener('input', (event) => {
  const key = event.target.dataset && event.target.dataset.draft;
  if (key) ui.drafts.set(key, event.target.value);
});

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && ui.dialog !== null) closeDialog('escape');
});

function sendReply(questionId, commentId, text) {
  const { parent, comment } = findComment(postById(questionId), commentId);
  store.addComment(questionId, parent.id, comment === parent ? text : `@${comment.author} ${text}`);
  ui.openReplies.add(parent.id);
  ui.replyTo = null;
  track('comment_reply_submit', {
    questionId,
    commentId,
    replyLength: text.length,
    valueLength: text.length,
    value: text.slice(0, VALUE_MAX),
  });
}

function sendComment(questionId, text) {
  store.addComment(questionId, null, text);
  track('comment_submit_direct', {
    questionId,
    commentLength: text.length,
    valueLength: text.length,
    value: text.slice(0, VALUE_MAX),
  });
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.dataset.form) return;
  event.preventDefault();
  const field = form.querySelector('textarea');
  const text = field.value.trim();
  if (!text) {
    toast('Write something first');
    return;
  }
  const questionId = Number(form.closest('[data-question]').dataset.question);
  ui.drafts.delete(field.dataset.draft);
  if (form.dataset.form === 'reply') sendReply(questionId, Number(form.dataset.comment), text);
  else sendComment(questionId, text);
  refresh(questionId);
  toast(form.dataset.form === 'reply' ? 'Reply sent' : 'Comment posted');
});

function wireSearch() {
  const field = document.getElementById('main-search');
  let enterPressed = false;
  field.addEventListener('keydown', (event) => { enterPressed = event.key === 'Enter'; });
  field.addEventListener('keyup', () => { enterPressed = false; });
  document.getElementById('search-form').addEventListener('submit', (event) => {
    const words = field.value.trim();
    if (!words) {
      event.preventDefault();
      return;
    }
    track('search', { query: words, normalizedQuery: words.toLowerCase(), location: enterPressed ? 'enter' : 'button' });
  });
}

wireSearch();
renderFeed();
store.onChangeElsewhere(renderFeed);
