// The notes of BlueBook: eight long ones and, for each of eight topics, a series of field notes.
// A note marked `late` never comes among the first of the feed.

import { pick, random, shuffle } from './random.js';

export const CHANNELS = [
  { id: 'for-you', label: 'For you' },
  { id: 'food', label: 'Food' },
  { id: 'travel', label: 'Travel' },
  { id: 'home', label: 'Home' },
  { id: 'plants', label: 'Plants' },
  { id: 'fitness', label: 'Fitness' },
  { id: 'tech', label: 'Tech' },
  { id: 'books', label: 'Books' },
  { id: 'photo', label: 'Photo' },
  { id: 'crafts', label: 'Crafts' },
];

export const slug = (text) => text.toLowerCase().normalize('NFD').replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

const LONG_NOTES = [
  {
    id: 'openclaw-30-days',
    title: 'OpenClaw after 30 days: the skills I kept',
    author: 'Ines Okafor',
    channels: ['tech'],
    tags: ['openclaw', 'agents', 'skills'],
    age: '2 days ago',
    late: true,
    story: [
      'A month ago I gave OpenClaw the old laptop in the hall and started to install a skill for every small chore. Five survived the first week; the rest only made the list longer.',
      'I wrote down how often each of the five ran and what became of it. The page with the numbers is the second picture. I did not type it out again, the table says it better.',
      'Short version: one skill does most of the work, and it is not the one I expected.',
    ],
    slides: [{ art: 'agent', variant: 3 }, { file: 'img/p-0412.png' }],
    comments: [
      ['Bram de Wit', 'The hall laptop is the hero of this story.', '1 d', 31, [
        ['Ines Okafor', 'It has not been switched off since.', '1 d', 12],
      ]],
      ['Yuki Arai', 'Could you share the setup for the calendar one? Mine books everything twice.', '22 h', 9],
      ['Samira Nasser', 'Keeping a tally on paper is the best idea here.', '9 h', 17],
    ],
  },
  {
    id: 'openclaw-3-days',
    title: 'OpenClaw after 3 days: the skills I tried',
    author: 'Ivo Sandberg',
    channels: ['tech'],
    tags: ['openclaw', 'agents', 'first look'],
    age: '5 days ago',
    story: [
      'Three days with OpenClaw, eleven skills installed, four of them already gone. This is a first impression and not a verdict.',
      'So far I like the mail digest best. Ask me again in a month.',
    ],
    slides: [{ art: 'agent', variant: 5 }, { art: 'list', lines: ['mail-digest', 'trip-folder', 'paper-shelf', 'web-peek'], heading: 'Day 3, still installed' }],
    comments: [
      ['Lotte Maes', 'web-peek never finished a page for me.', '4 d', 6],
      ['Bram de Wit', 'Looking forward to the month.', '3 d', 4],
    ],
  },
  {
    id: 'herbs-storm',
    title: 'Balcony herbs that survived the storm',
    author: 'Noor Haddad',
    channels: ['plants', 'home'],
    tags: ['balcony herbs', 'containers', 'wind'],
    age: '3 days ago',
    late: true,
    story: [
      'Seventh floor, facing west, and a night with gusts that carried the chairs away. Thyme, rosemary and winter savory did not lose a leaf.',
      'What helped: heavy clay pots, a low rail, and a string around the whole row. Basil is for people on the ground floor.',
    ],
    slides: [{ art: 'plants', variant: 2 }, { art: 'plants', variant: 6 }, { art: 'plants', variant: 1 }],
    comments: [
      ['Tomas Vrba', 'A string around the row, of course. Why did I never think of that?', '2 d', 14],
      ['Greta Olsen', 'Is savory hard to find where you live?', '1 d', 3, [['Noor Haddad', 'Only as seed, but it comes up fast.', '1 d', 5]]],
    ],
  },
  {
    id: 'herbs-summer',
    title: 'Balcony herbs that survived the summer',
    author: 'Nora Hadley',
    channels: ['plants'],
    tags: ['balcony herbs', 'heat', 'watering'],
    age: '3 weeks ago',
    story: [
      'Five weeks without rain and one neighbour with a watering can. Sage, oregano and thyme look better than I do.',
      'The chives gave up in July and came back in September as if nothing had happened.',
    ],
    slides: [{ art: 'plants', variant: 4 }, { art: 'plants', variant: 7 }],
    comments: [['Paulo Reis', 'Sage is indestructible.', '2 w', 8], ['Noor Haddad', 'Wait for the first storm!', '2 w', 11]],
  },
  {
    id: 'trieste-marta',
    title: 'Night train to Trieste: what I packed',
    author: 'Marta Lindqvist',
    channels: ['travel'],
    tags: ['night train', 'packing', 'trieste'],
    age: '4 days ago',
    late: true,
    story: [
      'One bag, one bicycle, eleven hours. I packed earplugs, a scarf that is also a pillow, a mug, and nothing that needs a socket.',
      'For those who asked: quiet compartments are in coach 267, next to the staff. The bicycle hooks are in coach 264, at the far end, and the platform is not announced before ten minutes to departure.',
      'Breakfast came at seven with the sea in the window.',
    ],
    slides: [{ art: 'train', variant: 1 }, { art: 'train', variant: 4 }],
    comments: [
      ['Lukas Weber', 'Which coach has the quiet compartments? I sleep badly on trains.', '3 d', 5],
      ['Jonas Weber', 'Is there breakfast on board, or should I bring something?', '3 d', 7, [
        ['Aiko Tanaka', 'A roll, jam and coffee. Bring fruit.', '3 d', 6],
        ['Jonas Weber', 'Thank you! And which coach has the bicycle hooks?', '2 d', 2],
        ['Aiko Tanaka', 'No idea, I travel without one.', '2 d', 1],
      ]],
      ['Clara Brandt', 'The scarf as a pillow: stolen.', '1 d', 22],
    ],
  },
  {
    id: 'trieste-martin',
    title: 'Night train to Trieste: what I packed',
    author: 'Martin Lindqvist',
    channels: ['travel'],
    tags: ['night train', 'packing', 'trieste'],
    age: '6 days ago',
    story: [
      'Two suitcases and a folding chair, which was one suitcase and one chair too many.',
      'Coach 261 has the bicycle hooks on the way north. The water in the tap is not for drinking, so bring a bottle.',
    ],
    slides: [{ art: 'train', variant: 6 }, { art: 'train', variant: 2 }],
    comments: [
      ['Jonas Weber', 'Which coach has the bicycle hooks?', '5 d', 4],
      ['Aiko Tanaka', 'A folding chair! I admire the confidence.', '5 d', 16, [
        ['Martin Lindqvist', 'It stayed folded all night.', '5 d', 9],
      ]],
    ],
  },
  {
    id: 'eight-loaves',
    title: 'I baked all eight sourdough field notes',
    author: 'Theo Marsh',
    channels: ['food'],
    tags: ['sourdough', 'comparison', 'baking'],
    age: '1 day ago',
    late: true,
    story: [
      'Eight field notes, eight loaves, one oven and a patient family. Each loaf got between one and five stars at the table, before anybody knew which recipe it was.',
      'The page from my kitchen book is among the pictures. Look at the water as well as at the stars: the wet doughs win the photographs, not always the breakfast.',
    ],
    slides: [{ art: 'bread', variant: 2 }, { art: 'bread', variant: 5 }, { file: 'img/p-0388.png' }],
    comments: [
      ['Helga Stein', 'Did the family get a veto?', '20 h', 19, [['Theo Marsh', 'They used it twice.', '19 h', 15]]],
      ['Dario Conti', 'Blind tasting is the only honest way.', '15 h', 10],
    ],
  },
  {
    id: 'window-chair',
    title: 'A chair that fits under the window',
    author: 'Clara Brandt',
    channels: ['books', 'home'],
    tags: ['reading', 'furniture', 'light'],
    age: '2 weeks ago',
    quote: 'Measure the window sill before you fall in love with a chair.',
    story: ['Measure the window sill before you fall in love with a chair. Mine is four centimetres lower than the sill now, and the light comes over the left shoulder all afternoon.'],
    comments: [['Greta Olsen', 'Left shoulder light is everything.', '1 w', 13]],
  },
];

const TOPICS = [
  {
    topic: 'Sourdough', channels: ['food'], art: 'bread', tags: ['sourdough', 'baking'],
    captions: [
      'A slow start in a cold kitchen. The dough took all night and half the morning, and nobody complained.',
      'More rye than I dared before. The crust sings when it leaves the oven.',
      'Photographed in the best light of the week. The crumb is as open as it looks.',
      'Bread is patience that you can eat. I folded it four times and then left it alone.',
      'Baked in the lidded pot that my aunt left me. Steam is half the recipe.',
      'A tin loaf for sandwiches. Less drama, more lunch.',
      'The starter was hungry and so was I. Fed at noon, baked at dusk.',
      'If it sticks to the basket, it is still bread. Rice flour next time.',
    ],
    remarks: ['My basket sticks too, rice flour helps.', 'How old is your starter?', 'Baked this yesterday, gone today.', 'Do you score before or after the flour?', 'The crust!'],
  },
  {
    topic: 'Night trains', channels: ['travel'], art: 'train', tags: ['night train', 'slow travel'],
    captions: [
      'Left at ten, woke up in another language. The top berth is the quiet one.',
      'Three hours late and nobody minded, because the dining car stayed open.',
      'Shared a compartment with a choir. They rehearsed softly.',
      'Sleep is a place that the train passes through.',
      'A window that opens is worth more than a shower.',
      'The border guards now only wave. I still wake up at every border.',
      'Bring slippers. This is the whole note.',
      'The best seat in the morning is on the left, facing the lake.',
    ],
    remarks: ['Slippers, always.', 'Which line was that?', 'Top berth for life.', 'I never sleep, I only look out of the window.', 'Adding this to my list.'],
  },
  {
    topic: 'Reading corners', channels: ['books', 'home'], art: 'chair', tags: ['reading', 'small rooms'],
    captions: [
      'A lamp, a shelf within reach, and a rule about telephones.',
      'The stairs have a landing, and the landing has a cushion now.',
      'A shelf turned sideways makes a bench. Paperbacks hold it down.',
      'You do not need a room. You need a chair that faces away from it.',
      'Curtains first, then everything else.',
      'Two chairs, one lamp: a good way to find out who reads later.',
      'The cat chose the corner, I only added books.',
      'Warm bulb, wool blanket, one book at a time.',
    ],
    remarks: ['Where is the lamp from?', 'The cat knows.', 'I need a landing like that.', 'One book at a time is optimistic.', 'So calm.'],
  },
  {
    topic: 'Balcony garden', channels: ['plants'], art: 'plants', tags: ['balcony', 'containers'],
    captions: [
      'Two square metres, nine pots, and one very ambitious bean.',
      'Herbs for the kitchen on the shady side: parsley, mint and chives get along.',
      'Moved the tomatoes half a metre and doubled the harvest.',
      'A balcony is a field that you can reach from the kitchen.',
      'Compost in a bucket, lid on, neighbours happy.',
      'The first strawberry was eaten by a blackbird with good taste.',
      'Sown too early, sown again. Seeds forgive.',
      'Watering in the evening, tea in the other hand.',
    ],
    remarks: ['Nine pots! I stopped at four.', 'What do you feed the bean?', 'The blackbird deserved it.', 'Mint takes over, be careful.', 'Evening watering is the best part of the day.'],
  },
  {
    topic: 'Trail running', channels: ['fitness'], art: 'trail', tags: ['running', 'outdoors'],
    captions: [
      'Eleven kilometres of mud and one of sunshine.',
      'Walked the climbs, ran the rest, smiled at the dogs.',
      'New route along the ridge, old shoes, no regrets.',
      'The hill does not care about your pace.',
      'Started before the birds, home before the bread was sold out.',
      'Poles for the descent. My knees wrote a thank-you note.',
      'Fog so thick that I heard the summit before I saw it.',
      'An easy hour, and for once it was easy.',
    ],
    remarks: ['Which ridge is that?', 'Old shoes are the best shoes.', 'Walking the climbs is wisdom.', 'I was the dog.', 'Fog runs are magic.'],
  },
  {
    topic: 'Agent tools', channels: ['tech'], art: 'agent', tags: ['agents', 'automation'],
    captions: [
      'One agent, one job, one log file. It is dull and it works.',
      'Let it draft, never let it send. That rule saved me twice this week.',
      'OpenClaw on a schedule: it sorts the receipts while I have breakfast.',
      'If you cannot explain the task to a friend, do not explain it to an agent.',
      'A list of things that it may touch is shorter than a list of things that it may not.',
      'Moved my OpenClaw prompts into one folder. Half of them were the same.',
      'Read the log once a day, with coffee.',
      'The best tool this month was a text file.',
    ],
    remarks: ['A text file again! Always.', 'How long is your log?', 'Never let it send. Printed and framed.', 'What does the schedule look like?', 'Mine sorts receipts into the wrong year.'],
  },
  {
    topic: 'Film cameras', channels: ['photo'], art: 'camera', tags: ['film', 'analogue'],
    captions: [
      'Loaded in the dark, shot in the rain, developed in the sink.',
      'The meter is broken and I have never looked more carefully.',
      'Thirty-six frames for a weekend. Four are good, which is a record.',
      'You only wait for the light because you cannot check the screen.',
      'A lens from a drawer at my grandfather\'s desk.',
      'Expired film, honest colours.',
      'Double exposure by mistake, framed on purpose.',
      'The shutter is loud and everybody smiles anyway.',
    ],
    remarks: ['Four of thirty-six is excellent.', 'Which film is this?', 'The sink method, brave.', 'Grandfathers have the best drawers.', 'Happy accidents.'],
  },
  {
    topic: 'Knitting', channels: ['crafts'], art: 'yarn', tags: ['knitting', 'wool'],
    captions: [
      'A scarf that became a shawl because I forgot to stop.',
      'Undid forty rows and slept well.',
      'Socks from leftover wool: no two alike, not even in one pair.',
      'A pattern is a promise that you may break.',
      'Cables are only stitches that change places.',
      'First sleeve perfect, second sleeve a little longer.',
      'Wool from the market, needles from a friend.',
      'Blocking is magic. That is all I know about it.',
    ],
    remarks: ['Undoing is part of it.', 'What needle size?', 'Unequal sleeves are a style.', 'The colours!', 'Leftover socks are the best socks.'],
  },
];

const PEOPLE = [
  'Ada Fournier', 'Bram de Wit', 'Clara Brandt', 'Dario Conti', 'Elif Kaya', 'Femke Visser', 'Greta Olsen', 'Helga Stein',
  'Imre Szabo', 'Judith Amsel', 'Kofi Mensah', 'Lotte Maes', 'Mila Petrov', 'Nils Aronsson', 'Olga Duda', 'Paulo Reis',
  'Rosa Villar', 'Samira Nasser', 'Tomas Vrba', 'Yuki Arai',
];

function toComments(noteId, rows, parentId) {
  return rows.map(([author, text, when, likes, replies = []], index) => {
    const id = parentId ? `${parentId}-${index + 1}` : `${noteId}-c${index + 1}`;
    return { id, author, text, when, likes, replies: toComments(noteId, replies, id) };
  });
}

function fieldNote(series, number, rng) {
  const id = `${slug(series.topic)}-${number}`;
  const people = shuffle(PEOPLE, rng);
  const remarks = shuffle(series.remarks, rng);
  const story = series.captions[number - 1];
  const isText = number % 4 === 0;
  return {
    id,
    title: `${series.topic}: field note ${number}`,
    author: people[0],
    channels: series.channels,
    tags: series.tags,
    age: `${1 + Math.floor(rng() * 8)} weeks ago`,
    quote: isText ? story : '',
    story: [story],
    slides: isText ? [] : Array.from({ length: 1 + Math.floor(rng() * 3) }, (_, slide) => ({ art: series.art, variant: number * 3 + slide })),
    comments: remarks.slice(0, 1 + Math.floor(rng() * 3)).map((text, index) => [people[index + 1], text, `${1 + Math.floor(rng() * 20)} h`, Math.floor(rng() * 30)]),
  };
}

/** The 72 notes, in no particular order. The same seed gives the same notes. */
export function makeNotes(seed) {
  const rng = random(`notes ${seed}`);
  const series = TOPICS.flatMap((topic) => topic.captions.map((_, index) => fieldNote(topic, index + 1, rng)));
  return [...LONG_NOTES, ...series].map((note) => ({
    quote: '',
    slides: [],
    ...note,
    authorId: slug(note.author),
    shape: note.late ? 'square' : pick(rng, ['tall', 'square', 'wide', 'tall']),
    likes: 20 + Math.floor(rng() * 900),
    collects: 5 + Math.floor(rng() * 200),
    shares: Math.floor(rng() * 60),
    comments: toComments(note.id, note.comments),
  }));
}

export const countComments = (comments) => comments.reduce((sum, comment) => sum + 1 + comment.replies.length, 0);
