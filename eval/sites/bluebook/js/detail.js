// The detail view of a note: pictures on the left, story, comments and actions on the right.

import { countComments } from './notes.js';
import { avatar, byId, el, shortCount, toast } from './dom.js';
import { startCarousel } from './carousel.js';
import * as store from './store.js';

const YOU = 'You';
const track = (type, data) => window.tracker.track(type, data);

export function startDetail() {
  const dialog = byId('detail');
  let current = null;

  function open(note, { onChange, onClose, focusComments }) {
    current = { note, onChange, onClose, expanded: new Set(), replyTo: null, draft: '' };
    const media = el('div', { class: 'detail-media' });
    dialog.replaceChildren(media, panel(note));
    startCarousel(media, note);
    renderFollow();
    renderComments();
    renderActions();
    document.documentElement.classList.add('is-locked');
    if (!dialog.open) dialog.showModal();
    if (focusComments) byId('quick-input').focus();
    else byId('detail-close').focus();
  }

  function closed() {
    if (dialog.open) return;
    document.documentElement.classList.remove('is-locked');
    dialog.replaceChildren();
    const { onClose } = current;
    current = null;
    onClose();
  }

  function panel(note) {
    return el('div', { class: 'detail-panel' },
      el('div', { class: 'detail-head' },
        avatar(note.author),
        el('span', { class: 'detail-author' }, note.author),
        el('button', { class: 'follow', id: 'follow', type: 'button', onclick: follow }),
        el('button', { class: 'round', id: 'detail-close', type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, '×')),
      el('div', { class: 'detail-scroll', id: 'detail-scroll', tabindex: '0', role: 'region', 'aria-label': 'Story and comments' },
        el('h2', { id: 'detail-title' }, note.title),
        ...note.story.map((text) => el('p', { class: 'story' }, text)),
        el('p', { class: 'tags' }, ...note.tags.map((tag) => el('span', {}, `#${tag.replace(/\s+/g, '')}`))),
        el('p', { class: 'age' }, note.age),
        el('h3', { id: 'comments-title' }),
        el('ul', { class: 'comments', id: 'comments', 'aria-labelledby': 'comments-title' })),
      el('div', { class: 'detail-foot' },
        el('div', { class: 'actions', id: 'actions' }),
        el('form', { class: 'quick', id: 'quick-form', onsubmit: quickComment },
          el('input', { id: 'quick-input', type: 'text', maxlength: '300', placeholder: 'Add a quick comment', 'aria-label': 'Quick comment', autocomplete: 'off' }),
          el('button', { id: 'quick-send', type: 'submit' }, 'Send'))));
  }

  function renderFollow() {
    const following = store.has('followed', current.note.authorId);
    const button = byId('follow');
    button.textContent = following ? 'Following' : 'Follow';
    button.setAttribute('aria-pressed', String(following));
  }

  function follow() {
    const { id: noteId, authorId, author: authorName } = current.note;
    const following = store.toggle('followed', authorId);
    track('author_follow_toggle', { authorId, authorName, following, noteId, followedAuthors: store.listOf('followed') });
    renderFollow();
  }

  function action(name, glyph, count, pressed, onclick) {
    return el('button', { class: `action ${name}`, type: 'button', 'aria-pressed': pressed, onclick },
      el('span', { class: 'glyph' }, glyph), ` ${shortCount(count)}`);
  }

  function renderActions(focused) {
    const { note } = current;
    const [liked, collected, shared] = ['liked', 'collected', 'shared'].map((name) => store.has(name, note.id));
    byId('actions').replaceChildren(
      action('like', liked ? '♥' : '♡', note.likes + liked, String(liked), like),
      action('collect', collected ? '★' : '☆', note.collects + collected, String(collected), collect),
      action('comment', '◔', countComments(note.comments) + store.writtenCount(note.id), null, focusQuick),
      action('share', '↗', note.shares + shared, null, share));
    if (focused) byId('actions').querySelector(`.${focused}`).focus();
  }

  function like() {
    const { note, onChange } = current;
    const liked = store.toggle('liked', note.id);
    track('note_like_toggle', { noteId: note.id, noteTitle: note.title, liked, location: 'detail', likedNotes: store.listOf('liked') });
    renderActions('like');
    onChange();
  }

  function collect() {
    const { note } = current;
    const collected = store.toggle('collected', note.id);
    track('note_collect_toggle', { noteId: note.id, noteTitle: note.title, collected, collectedNotes: store.listOf('collected') });
    renderActions('collect');
    toast(collected ? 'Added to your collection' : 'Removed from your collection');
  }

  function share() {
    const { note } = current;
    track('note_share_click', { noteId: note.id, noteTitle: note.title });
    if (!store.has('shared', note.id)) store.toggle('shared', note.id);
    renderActions('share');
    toast('Shared with your followers');
  }

  function focusQuick() {
    track('detail_comment_focus', { noteId: current.note.id });
    byId('quick-input').focus();
  }

  function quickComment(event) {
    event.preventDefault();
    const { note, onChange } = current;
    const input = byId('quick-input');
    const value = input.value.trim();
    if (!value) return;
    store.write(note.id, null, value);
    track('quick_comment_submit', { noteId: note.id, noteTitle: note.title, value, valueLength: value.length });
    input.value = '';
    renderComments();
    renderActions();
    onChange();
    toast('Comment posted');
  }

  function renderComments() {
    const { note } = current;
    byId('comments-title').textContent = `Comments (${countComments(note.comments) + store.writtenCount(note.id)})`;
    byId('comments').replaceChildren(
      ...store.writtenOn(note.id, null).map(ownComment),
      ...note.comments.map((comment) => commentItem(comment, comment)));
  }

  function ownComment({ text }) {
    return el('li', { class: 'entry own' }, avatar(YOU),
      el('div', { class: 'entry-body' },
        el('span', { class: 'entry-author' }, YOU), el('p', {}, text), el('div', { class: 'entry-meta' }, 'just now')));
  }

  function commentItem(comment, root) {
    const liked = store.has('likedComments', comment.id);
    return el('li', { class: 'entry', 'data-comment': comment.id }, avatar(comment.author),
      el('div', { class: 'entry-body' },
        el('span', { class: 'entry-author' }, comment.author),
        el('p', {}, comment.text),
        el('div', { class: 'entry-meta' },
          el('span', {}, comment.when),
          el('button', { class: 'entry-like', type: 'button', 'aria-pressed': String(liked), onclick: () => likeComment(comment) },
            el('span', { class: 'glyph' }, liked ? '♥' : '♡'), ` ${comment.likes + liked}`),
          el('button', { class: 'entry-reply', type: 'button', onclick: () => openReply(comment) }, 'Reply')),
        current.replyTo === comment.id ? replyForm(comment, root) : null,
        comment === root ? replies(root) : null));
  }

  function replies(root) {
    const own = store.writtenOn(current.note.id, root.id);
    const expanded = current.expanded.has(root.id);
    const count = root.replies.length;
    const label = expanded ? 'Hide replies' : `Show ${count} ${count === 1 ? 'reply' : 'replies'}`;
    const items = [...(expanded ? root.replies.map((reply) => commentItem(reply, root)) : []), ...own.map(ownComment)];
    return el('div', {},
      count > 0 ? el('button', { class: 'entry-more', type: 'button', 'aria-expanded': String(expanded), onclick: () => toggleReplies(root) }, label) : null,
      items.length > 0 ? el('ul', { class: 'replies' }, ...items) : null);
  }

  function toggleReplies(root) {
    const expanded = !current.expanded.delete(root.id);
    if (expanded) current.expanded.add(root.id);
    track('comment_replies_toggle', { noteId: current.note.id, commentId: root.id, expanded });
    renderComments();
    focusIn(root, '.entry-more');
  }

  /** Comments are rendered anew; the keyboard stays where it was. */
  function focusIn(comment, selector) {
    byId('comments').querySelector(`[data-comment="${comment.id}"] ${selector}`).focus();
  }

  function likeComment(comment) {
    const liked = store.toggle('likedComments', comment.id);
    track('comment_like_toggle', { noteId: current.note.id, commentId: comment.id, liked });
    renderComments();
    focusIn(comment, '.entry-like');
  }

  function openReply(comment) {
    current.replyTo = comment.id;
    current.draft = '';
    track('comment_reply_open', { noteId: current.note.id, commentId: comment.id, commentAuthor: comment.author });
    renderComments();
    byId('reply-input').focus();
  }

  function replyForm(comment, root) {
    return el('form', { class: 'reply', onsubmit: (event) => sendReply(event, comment, root) },
      el('input', {
        id: 'reply-input', type: 'text', maxlength: '300', value: current.draft, autocomplete: 'off',
        placeholder: 'Write a reply', 'aria-label': 'Reply', oninput: (event) => { current.draft = event.target.value; },
      }),
      el('button', { type: 'submit' }, 'Send reply'),
      el('button', { class: 'plain', type: 'button', onclick: () => cancelReply(comment) }, 'Cancel'));
  }

  function cancelReply(comment) {
    current.replyTo = null;
    renderComments();
    focusIn(comment, '.entry-reply');
  }

  function sendReply(event, comment, root) {
    event.preventDefault();
    const { note, onChange } = current;
    const value = byId('reply-input').value.trim();
    if (!value) return;
    store.write(note.id, root.id, value);
    track('comment_reply_submit', { noteId: note.id, commentId: comment.id, commentAuthor: comment.author, value, valueLength: value.length });
    current.replyTo = null;
    current.expanded.add(root.id);
    renderComments();
    renderActions();
    focusIn(comment, '.entry-reply');
    onChange();
    toast('Reply posted');
  }

  dialog.addEventListener('close', closed);
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  return { open };
}
