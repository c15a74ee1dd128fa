// The reviews drawer: seven cards that readers can mark as helpful.

import { Drawer } from './drawer.js';
import { onScrollPause, whenCentred } from './geometry.js';

const REVIEWS = [
  { id: 1, title: 'Stayed dry on the ferry', author: 'Ida M.', stars: 5, size: 'M', helped: 31,
    text: 'Four hours on an open deck with rain from the side. Wet trousers, dry shirt. I am 172 cm and took an M straight away; an L would have been a tent.' },
  { id: 2, title: 'Good once the size was right', author: 'Jonas P.', stars: 4, size: 'L', helped: 18,
    text: 'I ordered my usual M and could not lift my arms over a fleece. The shop exchanged it for an L within a week, without any discussion. Since then no complaints.' },
  { id: 3, title: 'Roomy, maybe too roomy', author: 'Lena K.', stars: 3, size: 'L', helped: 9,
    text: 'The L flaps in the wind and I keep thinking about exchanging it for an M. For now I wear it over a thick jumper, and then it is fine.' },
  { id: 4, title: 'Two shells, one household', author: 'Oskar T.', stars: 5, size: 'L', helped: 22,
    text: 'An L for me, an M for my partner, both bought here. My only rain jacket now, in town and on the trail. We never had to send anything back.' },
  { id: 5, title: 'Cuffs let water in on the bike', author: 'Samira B.', stars: 3, size: 'S', helped: 14,
    text: 'Great on foot. On the handlebars the cuffs open and the water runs up the sleeve. The S is right for me, so another size would not have helped.' },
  { id: 6, title: 'Right at the second try', author: 'Wim D.', stars: 4, size: 'M', helped: 12,
    text: 'The hem of my first one, an L, hung down to the thighs. It went back, an M came five days later, and that is the one I have kept. Light, quiet, good hood.' },
  { id: 7, title: 'Repaired, and like new', author: 'Greta N.', stars: 5, size: 'XL', helped: 27,
    text: 'A thorn tore the sleeve of my XL. The workshop patched it within two weeks and even washed it. You have to look for the place.' },
];

function card(review) {
  const made = document.createElement('article');
  made.className = 'review';
  made.dataset.review = review.id;
  made.innerHTML = `
    <h3>${review.title}</h3>
    <p class="by"><span class="stars" role="img" aria-label="${review.stars} out of 5 stars">${'★'.repeat(review.stars)}<i>${'★'.repeat(5 - review.stars)}</i></span>
      ${review.author} · size ${review.size}</p>
    <p>${review.text}</p>
    <div class="helpful"><button type="button" aria-pressed="false">Helpful</button> <span>${review.helped} found this helpful</span></div>`;
  return made;
}

export function setUpReviews(tracker) {
  const opener = document.getElementById('open-reviews');
  const drawer = new Drawer(tracker, 'reviews', document.getElementById('reviews'), opener);
  const marked = new Set();

  for (const review of REVIEWS) {
    const article = card(review);
    const button = article.querySelector('button');
    button.addEventListener('click', () => {
      const helpful = !marked.has(review.id);
      if (helpful) marked.add(review.id);
      else marked.delete(review.id);
      button.setAttribute('aria-pressed', helpful);
      article.querySelector('.helpful span').textContent = `${review.helped + Number(helpful)} found this helpful`;
      const all = [...marked].sort().join(',');
      tracker.track('review_helpful', { reviewId: review.id, title: review.title, helpful, marked: all });
    });
    drawer.panel.append(article);
    whenCentred(drawer.panel, article, () => {
      if (drawer.isOpen) tracker.track('reviews_drawer_geometry_ready', { reviewId: review.id });
    });
  }

  opener.addEventListener('click', () => {
    drawer.show();
    tracker.track('reviews_drawer_open', {});
  });
  onScrollPause(drawer.panel, () => {
    const { scrollTop, scrollHeight, clientHeight } = drawer.panel;
    if (drawer.isOpen) tracker.track('reviews_panel_scroll', { scrollTop, maxScrollTop: scrollHeight - clientHeight });
  });
  document.getElementById('write-review').addEventListener('click', () => {
    document.getElementById('reviews-note').textContent = 'You can write a review after your first order.';
  });
}
