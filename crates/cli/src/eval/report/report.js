'use strict';
// Opens the run that an address names, and enlarges screenshots.
const open = () => {
  const run = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (run) {
    run.open = true;
    run.scrollIntoView();
  }
};
addEventListener('hashchange', open);
open();
const large = document.getElementById('large');
document.addEventListener('click', click => {
  const shot = click.target.closest('.shot');
  if (shot) {
    large.querySelector('img').src = shot.querySelector('img').src;
    large.showModal();
  } else if (click.target === large || click.target.closest('dialog button')) {
    large.close();
  }
});
