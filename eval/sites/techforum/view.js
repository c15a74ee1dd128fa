// Markup of cards, comments and the dialog with all comments.

import * as store from './store.js';

const INLINE_COMMENTS = 5;

/** What is open on this page; lost when the page is left. */
export const ui = {
  expanded: new Set(),
  openReplies: new Set(),
  replyTo: null,
  dialog: null,
  drafts: new Map(),
};

const icons = {
  up: '<path d="M12 5 20 16H4Z"/>',
  down: '<path d="M12 19 4 8h16Z"/>',
  comment: '<path d="M4 5h16v11H11l-5 4v-4H4Z"/>',
  share: '<path d="M13 5l7 6-7 6v-4c-4 0-7 1-9 4 0-5 3-8 9-8.5Z"/>',
  collect: '<path d="M6 4h12v16l-6-4.5L6 20Z"/>',
  heart: '<path d="M12 19C5 14 4 11 4 9a4 4 0 0 1 8-1 4 4 0 0 1 8 1c0 2-1 5-8 10Z"/>',
  close: '<path d="M6 6 18 18M18 6 6 18"/>',
};
const icon = (name) => `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${icons[name]}</svg>`;

export function escapeHtml(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c]));
}

const ago = (hours) => (hours < 24 ? `${hours} h ago` : `${Math.round(hours / 24)} d ago`);
const plural = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;

function avatar(name) {
  const initials = name.split(/[\s-]+/).map((word) => word[0]).slice(0, 2).join('');
  const hue = [...name].reduce((sum, c) => sum + c.charCodeAt(0) * 7, 0) % 360;
  return `<span class="avatar" style="--hue:${hue}" aria-hidden="true">${initials}</span>`;
}

export function topLevelComments(post) {
  return [...post.comments, ...store.addedTo(post.id, null)];
}

const repliesOf = (post, comment) => [...(comment.replies || []), ...store.addedTo(post.id, comment.id)];

/** The top-level comment that contains a comment, and the comment itself. */
export function findComment(post, commentId) {
  for (const parent of topLevelComments(post)) {
    const comment = [parent, ...repliesOf(post, parent)].find((c) => c.id === commentId);
    if (comment) return { parent, comment };
  }
  return null;
}

function actionButton(className, action, pressed, label, content) {
  const state = pressed === null ? '' : ` aria-pressed="${pressed}"`;
  const accessibleName = label ? ` aria-label="${label}"` : '';
  return `<button type="button" class="action-btn ${className}" data-action="${action}"${state}${accessibleName}>${content}</button>`;
}

function actions(post) {
  const up = store.has('upvoted', post.id);
  const down = store.has('downvoted', post.id);
  const collected = store.has('collected', post.id);
  const votes = post.votes + (up ? 1 : 0) - (down ? 1 : 0);
  const comments = plural(topLevelComments(post).length, 'comment');
  const open = ui.expanded.has(post.id);
  return `<div class="card-actions">
    ${actionButton('upvote-btn', 'upvote', up, `Upvote, ${plural(votes, 'vote')}`, `${icon('up')}<span>${votes}</span>`)}
    ${actionButton('downvote-btn', 'downvote', down, 'Downvote', icon('down'))}
    <button type="button" class="action-btn comment-toggle" data-action="comment" aria-expanded="${open}">${icon('comment')}<span>${comments}</span></button>
    ${actionButton('share-btn', 'share', null, '', `${icon('share')}<span>Share</span>`)}
    ${actionButton('collect-btn', 'collect', collected, '', `${icon('collect')}<span>${collected ? 'Collected' : 'Collect'}</span>`)}
  </div>`;
}

function replyForm(comment) {
  const draft = escapeHtml(ui.drafts.get(`reply-${comment.id}`) || '');
  return `<form class="reply-form" data-form="reply" data-comment="${comment.id}">
    <label for="reply-input-${comment.id}">Reply to ${escapeHtml(comment.author)}</label>
    <textarea id="reply-input-${comment.id}" data-draft="reply-${comment.id}" rows="3">${draft}</textarea>
    <div><button type="submit" class="primary">Send reply</button>
    <button type="button" class="plain" data-action="reply-cancel">Cancel</button></div>
  </form>`;
}

function commentItem(post, comment, place) {
  const replies = repliesOf(post, comment);
  const liked = store.has('liked', comment.id);
  const likes = comment.likes + (liked ? 1 : 0);
  const open = ui.openReplies.has(comment.id);
  const replying = ui.replyTo && ui.replyTo.commentId === comment.id && ui.replyTo.place === place;
  const toggle = replies.length === 0 ? '' : `<button type="button" class="comment-action-btn" data-action="replies"
    aria-expanded="${open}">${open ? 'Hide' : 'Show'} ${replies.length === 1 ? '1 reply' : `${replies.length} replies`}</button>`;
  return `<li class="comment" data-comment="${comment.id}">
    ${avatar(comment.author)}
    <div class="comment-main">
      <p class="comment-author">${escapeHtml(comment.author)}</p>
      <p class="comment-text">${escapeHtml(comment.text)}</p>
      <div class="comment-actions">
        <button type="button" class="comment-action-btn like" data-action="comment-like" aria-pressed="${liked}"
          aria-label="Like, ${likes}">${icon('heart')}<span>${likes}</span></button>
        <button type="button" class="comment-action-btn" data-action="comment-reply">Reply</button>
        ${toggle}
      </div>
      ${replying ? replyForm(comment) : ''}
      ${open && replies.length > 0 ? `<ul class="replies">${replies.map((r) => commentItem(post, r, place)).join('')}</ul>` : ''}
    </div>
  </li>`;
}

function commentForm(post, place) {
  const key = `comment-${place}-${post.id}`;
  return `<form class="comment-form" data-form="comment">
    <label class="visually-hidden" for="${key}">Add a comment</label>
    <textarea id="${key}" data-draft="${key}" rows="2" placeholder="Add a comment">${escapeHtml(ui.drafts.get(key) || '')}</textarea>
    <button type="submit" class="primary">Post comment</button>
  </form>`;
}

function thread(post) {
  const all = topLevelComments(post);
  const shown = all.filter((comment, index) => index < INLINE_COMMENTS || comment.author === 'You');
  const more = all.length > INLINE_COMMENTS
    ? `<button type="button" class="view-all-comments-btn" data-action="view-all">View all comments</button>` : '';
  return `<section class="thread" aria-label="Comments">
    <ul class="comments">${shown.map((c) => commentItem(post, c, 'card')).join('')}</ul>
    ${more}${commentForm(post, 'card')}
  </section>`;
}

export function card(post) {
  return `<article class="question-card" data-question="${post.id}" aria-labelledby="title-${post.id}">
    <header>${avatar(post.author)}<div><b>${post.author}</b><span>${post.bio} · ${ago(post.hours)}</span></div>
      <span class="badge ${post.open ? 'open' : 'answered'}">${post.open ? 'Open' : 'Answered'}</span></header>
    <h2 id="title-${post.id}">${post.title}</h2>
    ${post.body.map((paragraph) => `<p>${paragraph}</p>`).join('')}
    <ul class="tags" aria-label="Tags">${post.tags.map((tag) => `<li>${tag}</li>`).join('')}</ul>
    ${actions(post)}
    ${ui.expanded.has(post.id) ? thread(post) : ''}
  </article>`;
}

export function dialog(post) {
  const all = topLevelComments(post);
  return `<div class="backdrop" data-action="close-dialog"></div>
    <div class="dialog" role="dialog" aria-modal="true" aria-labelledby="dialog-title" data-question="${post.id}">
      <header><div><p>${post.title}</p><h2 id="dialog-title" tabindex="-1">${plural(all.length, 'comment')}</h2></div>
        <button type="button" class="close" data-action="close-dialog" aria-label="Close">${icon('close')}</button></header>
      <div class="dialog-list"><ul class="comments">${all.map((c) => commentItem(post, c, 'dialog')).join('')}</ul></div>
      ${commentForm(post, 'dialog')}
    </div>`;
}

export function activity() {
  const row = (label, list) => `<li><span>${label}</span><b>${store.count(list)}</b></li>`;
  return row('Upvoted', 'upvoted') + row('Downvoted', 'downvoted') + row('Collected', 'collected');
}
