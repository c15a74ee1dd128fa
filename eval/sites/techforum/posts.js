// Questions of the forum. A comment is [author, text, likes, replies]; its id is
// the question's id times 100 plus its number, a reply's id that of its comment times 10.

const questions = [
  {
    id: 1, author: 'Mira Halloran', bio: 'Research engineer', hours: 3, votes: 328, open: true,
    title: 'AI trends for the coming year: what will actually matter?',
    body: [
      'Every list I read names the same ten things. I would like to hear from people who ship something: which development in AI changed your work last quarter, and which one are you quietly ignoring?',
      'Please say what you build, so that the answers can be compared.',
    ],
    tags: ['AI', 'trends', 'research'],
    comments: [
      ['Jonas Pell', 'Smaller models, by a wide margin. We replaced one large model by three small ones and our bill is a ninth of what it was.', 64],
      ['Sunniva Aas', 'Evaluation. Two years ago nobody had test sets of their own; now a team without one is not taken seriously.', 51],
      ['Graduate Assistant', 'I mark student projects, and the trend is plain: fewer notebooks, more small services with tests. Does anyone have statistics on that?', 12],
      ['Derya Koc', 'Ignoring: anything with the word “revolution” in the first paragraph.', 88],
      ['Patrick Osei', 'We build planning software for clinics. What mattered was structured output that can be checked before anybody sees it.', 33],
      ['Ilse Tamminen', 'Long inputs. Half of our retrieval code exists only because inputs used to be short.', 27],
      ['Ravi Sundqvist', 'Speech that works in a noisy workshop. It sounds minor until you see people with gloves use it.', 19],
      ['Graduate Student', 'I am starting a thesis on this next month and my reading list is empty. Could anybody recommend a paper or two that is worth reading first?', 41],
      ['Maud Ferrer', 'Energy. Our customers now ask for the consumption per request, and we had no number to give them.', 22],
      ['Kwabena Lunde', 'Nothing changed my work as much as a good log of what the model saw and said.', 30],
    ],
  },
  {
    id: 2, author: 'Bram Keltner', bio: 'Build engineer', hours: 20, votes: 91, open: true,
    title: 'How do you keep flaky tests out of the main branch?',
    body: ['About one run in thirty fails for no reason that anybody can reproduce. We retry, which hides it. Has a quarantine list worked for you, and who empties it?'],
    tags: ['testing', 'build'],
    comments: [
      ['Ottilie Brandt', 'A quarantine with a date. A test that is still in it after two weeks gets deleted, by a script, without a discussion.', 40],
      ['Tomas Ekblad', 'Fix the clock first. Four out of five of ours depended on the time of day.', 25],
      ['Lin Abernathy', 'We count failures per test and put the list on the wall of the kitchen.', 17],
    ],
  },
  {
    id: 3, author: 'Noor Castellan', bio: 'Frontend developer', hours: 2, votes: 146, open: true,
    title: 'Container queries or media queries for a design system?',
    body: ['Our components live in columns of very different widths, so the width of the window says little. Did you move everything to container queries, and what did it cost you in older browsers?'],
    tags: ['css', 'frontend'],
    comments: [
      ['Greta Hofmann', 'Everything that is a component: container. Everything that is a page: media. It has held for a year.', 38],
      ['Silas Moreau', 'Mind the containment. A dropdown that used to overflow its card was cut off.', 21],
      ['Ayo Brennan', 'Three per cent of our visitors see the single-column layout. Nobody has written in.', 9],
    ],
  },
  {
    id: 4, author: 'Leonie Farrow', bio: 'Engineering manager', hours: 8, votes: 203, open: true,
    title: 'Which review habits changed after your team adopted AI assistants?',
    body: ['Pull requests got longer and descriptions better, in our case. Reviewers complain that everything looks plausible. Did you introduce rules, and does anybody follow them?'],
    tags: ['AI', 'code review', 'teams'],
    comments: [
      ['Hamish Quill', 'The author has to explain one function of the reviewer’s choice, aloud. It takes three minutes.', 57],
      ['Beatrix Lam', 'Limit of 300 changed lines. The rule is older than the assistants, but now it has a purpose.', 44],
      ['Oleander Price', 'We review the tests first, and the code only if they are good.', 35],
      ['Zofia Markham', 'Nobody follows rules. People follow a template with empty fields.', 28],
    ],
  },
  {
    id: 5, author: 'Henk Ossian', bio: 'Data engineer', hours: 30, votes: 77, open: true,
    title: 'When does a composite index stop helping?',
    body: ['We have an index over four columns, and a query that filters by the first and the third. The planner uses it on some days and not on others. At what point would you split it in two?'],
    tags: ['databases', 'sql'],
    comments: [
      ['Ines Faro', 'Look at how selective the first column is. If it leaves more than a tenth of the rows, the rest of the index is decoration.', 31],
      ['Pavel Strand', 'On some days? Then your statistics are stale. Refresh them before you change anything.', 29],
      ['Night Shift DBA', 'Two indexes are cheaper than one argument. Writes will tell you if it was one too many.', 14],
      ['Carys Whitlock', 'Post the plan of a good day and of a bad one.', 11],
    ],
  },
  {
    id: 6, author: 'Emil Vasquez-Horn', bio: 'Systems programmer', hours: 5, votes: 119, open: true,
    title: 'Typed errors or one big enum?',
    body: ['The library has eleven modules. One error enum is convenient for callers, but each of them now has to handle cases that cannot happen. One type per module means conversions everywhere. What do your users prefer?'],
    tags: ['rust', 'api design'],
    comments: [
      ['Runa Dahl', 'One type per operation that can fail differently. Callers match on two cases, not on forty.', 36],
      ['Miles Okafor', 'One opaque type with a kind() method. You can add kinds later without breaking anybody.', 42],
    ],
  },
  {
    id: 7, author: 'Tamsin Okoro', bio: 'Test lead', hours: 15, votes: 174, open: true,
    title: 'How do you test AI agents that call external tools?',
    body: ['Unit tests with recorded answers pass, and then the thing books the wrong room because a calendar came back in another order. What do you simulate, what do you run for real, and how often?'],
    tags: ['AI', 'testing', 'tools'],
    comments: [
      ['Sebastian Crane', 'A fake of every tool that is strict where the real one is sloppy. It finds most of it.', 47],
      ['Yuki Lindahl', 'Run each scenario twenty times and look at the distribution. One pass tells you nothing.', 39],
      ['Anselm Grey', 'We score the final state of the world and not the transcript. It took a month to build and was worth it.', 52],
    ],
  },
  {
    id: 8, author: 'Delphine Marsh', bio: 'Architect', hours: 52, votes: 88, open: true,
    title: 'Is a monorepo worth it for four services?',
    body: ['Four services, one shared database, nine people. Each change touches two repositories on average. A monorepo would fix that, and break the build that everybody has just learned to trust.'],
    tags: ['architecture', 'build'],
    comments: [
      ['Bram Keltner', 'With nine people: yes. You are one team that pretends to be four.', 48],
      ['Rosa Iversen', 'Move two of them first. If you do not miss the walls after a month, move the rest.', 26],
    ],
  },
  {
    id: 9, author: 'Fenna Drost', bio: 'Freelance writer and developer', hours: 26, votes: 64, open: true,
    title: 'Freelancers: do you tell an agency when AI wrote the first draft?',
    body: ['My contract with the agency says nothing about it. The client pays by the page and likes the result. I would rather ask now than be asked later. What do you put into your terms?'],
    tags: ['AI', 'career'],
    comments: [
      ['Gideon Marlowe', 'One sentence: “Tools are used; I answer for every word.” No agency has objected so far.', 37],
      ['Perpetua Lang', 'Tell them. If the price depends on not telling, it is the wrong price.', 45],
    ],
  },
  {
    id: 10, author: 'Oskar Vell', bio: 'Backend developer', hours: 71, votes: 132, open: false,
    title: 'Soft deletes: a column, a second table or a trigger?',
    body: ['Every query now ends in “where deleted is null”, except those where somebody forgot it. Is there a variant that does not depend on memory?'],
    tags: ['databases', 'design'],
    comments: [
      ['Ines Faro', 'A view with the live rows under the old name. The table gets another name that nobody types by accident.', 61],
      ['Oskar Vell', 'That did it, thank you. Two hours of work, and one forgotten report found on the way.', 18],
    ],
  },
  {
    id: 11, author: 'Saskia Thorne', bio: 'Operations', hours: 11, votes: 156, open: true,
    title: 'What belongs in a good postmortem, and what does not?',
    body: ['Ours have become long. They contain every message of the night and no sentence that I would want to read a year later. What do you leave out?'],
    tags: ['operations', 'writing'],
    comments: [
      ['Ruben Asch', 'Leave out the log. Keep the moment at which somebody believed something false, and why.', 73],
      ['Cato Lindström', 'One page. If it does not fit, it was two incidents.', 41],
      ['Winifred Osei', 'Names of people go out, names of assumptions go in.', 34],
    ],
  },
  {
    id: 12, author: 'Callum Reyes', bio: 'Product engineer', hours: 12, votes: 141, open: true,
    title: 'What should an assistant remember between two sessions?',
    body: ['We run an agent that helps electricians with paperwork. It forgets everything overnight, which is safe and annoying. When it remembers, it remembers the wrong half. Which facts do you keep, and who may see them?'],
    tags: ['AI', 'memory', 'privacy'],
    comments: [
      ['Tove Hallberg', 'Only what the user could have written on a note and stuck to the screen. And they can see the note.', 55],
      ['Ignatius Bell', 'Decisions, not conversations. “Prefers copper pipe” is worth more than the hour in which it came up.', 32],
    ],
  },
  {
    id: 13, author: 'Viggo Alm', bio: 'Integration developer', hours: 60, votes: 49, open: true,
    title: 'How large should the payload of a queue message be?',
    body: ['Some of our messages carry the whole order, some only an id that the consumer looks up in the database. Both camps have had an outage to point at. Which way would you go with four consumers?'],
    tags: ['messaging', 'architecture'],
    comments: [
      ['Miles Okafor', 'The whole order, with a version number. Lookups turn one failure into two.', 22],
      ['Rosa Iversen', 'An id, plus the three fields that every consumer needs. We measured.', 19],
    ],
  },
  {
    id: 14, author: 'Agnes Holloway', bio: 'Staff engineer', hours: 34, votes: 97, open: false,
    title: 'Do you still write design documents?',
    body: ['I like them, my colleagues skim them, and half a year later nobody can find them. I am looking for a form that survives contact with a busy team.'],
    tags: ['writing', 'teams'],
    comments: [
      ['Cato Lindström', 'A page in the repository, next to the code, with a list of what we decided against.', 52],
      ['Agnes Holloway', 'The list of rejected ideas is what was missing. Thanks.', 20],
    ],
  },
  {
    id: 15, author: 'Priya Solheim', bio: 'Community organiser', hours: 44, votes: 38, open: true,
    title: 'Which AI sessions belong on the agenda of a small meetup?',
    body: ['Forty people, one evening, mixed experience. Last time we had three demonstrations in a row and lost half the room. The agenda for spring is still empty.'],
    tags: ['AI', 'community'],
    comments: [
      ['Lin Abernathy', 'One talk about something that failed. It is always the best one.', 29],
      ['Hamish Quill', 'Let people bring a problem and sit at tables. No slides.', 24],
    ],
  },
  {
    id: 16, author: 'Carys Whitlock', bio: 'Platform engineer', hours: 4, votes: 112, open: true,
    title: 'Schema change on a very large table without a night shift?',
    body: ['Nine hundred million rows, writes around the clock, and a new column that must not be null. The migration tool locks the table for longer than anybody will accept. How would you go about it?'],
    tags: ['databases', 'migrations', 'operations'],
    comments: [
      ['Pavel Strand', 'Add it nullable, fill it in small batches, and add the constraint without validation. Validate last.', 58],
      ['Ines Faro', 'Whatever you do, set a lock timeout first. A migration that waits blocks everyone behind it.', 46],
      ['Viggo Alm', 'We copied the table and swapped the names. It took eleven days and four seconds.', 27],
      ['Saskia Thorne', 'Tell support before, not after.', 15],
      ['Henk Ossian', 'How many indexes are on it? Each one makes the backfill slower.', 12],
      ['Night Shift DBA', 'The column is the easy part. The index that you will want on it afterwards is what hurts: when do you build that one, and how?', 33, [
        ['Ruben Asch', 'With the table in read-only mode on a Sunday. Not elegant, but it is over by lunch.', 6],
        ['Ines Faro', 'Never in one transaction with the rest. How busy is the table at its quietest hour?', 17],
        ['Olek Brandt', 'On the replica first, then fail over. You need a replica that you trust, though.', 9],
      ]],
      ['Winifred Osei', 'Rehearse with last month’s backup. Ours was slower by a factor of six.', 21],
    ],
  },
  {
    id: 17, author: 'Stellan Moss', bio: 'Hobbyist', hours: 22, votes: 59, open: true,
    title: 'What is the smallest useful home lab?',
    body: ['I want to learn how networks break without breaking the one my family uses. One board, two old laptops and a switch: enough, or will I just be angry?'],
    tags: ['hardware', 'networks'],
    comments: [
      ['Ayo Brennan', 'Enough. Buy a second switch before a third computer.', 23],
      ['Silas Moreau', 'Label the cables. That is the actual lesson.', 31],
    ],
  },
  {
    id: 18, author: 'Dagny Forsberg', bio: 'Site reliability engineer', hours: 18, votes: 187, open: true,
    title: 'Would you let agentic workflows touch production?',
    body: ['Management wants AI on call: it reads the alert, picks a runbook and executes it. I could live with reading. Where do you draw the line, and how do you take the permission back at three in the morning?'],
    tags: ['AI', 'operations', 'automation'],
    comments: [
      ['Ruben Asch', 'It may propose, and a human presses the button. After six months, look at how often the human disagreed.', 66],
      ['Saskia Thorne', 'Runbooks that can be undone: yes. The others: no. It is the same line that we draw for new colleagues.', 71],
      ['Kwabena Lunde', 'A switch that works without the network. Test it monthly.', 38],
    ],
  },
  {
    id: 19, author: 'Odile Renner', bio: 'Technical writer', hours: 90, votes: 42, open: false,
    title: 'Model cards: who reads them?',
    body: ['I write the documentation of our AI models. Each card takes me two days. The only feedback so far came from a lawyer. Who are your readers, and what do they look up?'],
    tags: ['AI', 'documentation'],
    comments: [
      ['Maud Ferrer', 'Buyers look up the limits, and only those. We put them first.', 28],
      ['Odile Renner', 'Moved to the top. Two questions less per week already.', 16],
    ],
  },
  {
    id: 20, author: 'Barnaby Frost', bio: 'Mechanical keyboard person', hours: 1, votes: 84, open: true,
    title: 'Split keyboards: was the switch worth it?',
    body: ['My wrists say yes after two weeks, my typing speed says no. For those who stayed with it: how long did it take until you stopped thinking about where the B is?'],
    tags: ['hardware', 'health'],
    comments: [
      ['Runa Dahl', 'Six weeks. Then I could not use the old one any more, which is its own problem.', 34],
      ['Greta Hofmann', 'The B is on both halves of mine. Problem solved.', 47],
      ['Tomas Ekblad', 'Went back after a month and bought a better chair.', 18],
    ],
  },
  {
    id: 21, author: 'Ingrid Palmqvist', bio: 'Performance engineer', hours: 80, votes: 105, open: false,
    title: 'Connection pool size: is there a rule of thumb?',
    body: ['Sixteen cores, fast disks, six application servers with fifty connections each. Most of them idle, and yet requests wait. I suspect that smaller would be faster.'],
    tags: ['databases', 'performance'],
    comments: [
      ['Pavel Strand', 'Twice the cores, in total and not per server. Start there and measure.', 63],
      ['Ingrid Palmqvist', 'Went from 300 to 36 and the waiting time halved. Closing this.', 30],
    ],
  },
  {
    id: 22, author: 'Marguerite Stone', bio: 'Accessibility consultant', hours: 6, votes: 128, open: true,
    title: 'How do you teach accessibility to backend people?',
    body: ['They decide about error messages, timeouts and file formats, and no course is written for them. I have half a day and eighteen people who think it is about colours.'],
    tags: ['accessibility', 'teaching'],
    comments: [
      ['Noor Castellan', 'Unplug the mice. Then let them use their own admin pages for an hour.', 69],
      ['Zofia Markham', 'Start with timeouts. Everybody has lost a form to one.', 36],
    ],
  },
  {
    id: 23, author: 'Wout Andersen', bio: 'Infrastructure planner', hours: 10, votes: 73, open: true,
    title: 'How much cooling water does a data campus really use?',
    body: [
      'Numbers for the halls at Lake Orrin differ by a factor of three, depending on who speaks. Most of them seem to come from two articles in the <a href="/gbr/" target="_blank" rel="noopener">Grantley Bay Register (GBR)</a>.',
      'Has anyone read them with a pencil in hand? I need figures that survive a council meeting.',
    ],
    tags: ['infrastructure', 'energy'],
    comments: [
      ['Cato Lindström', 'Ask what is counted: what is drawn, or what does not come back. The two differ by a fifth there.', 26],
      ['Maud Ferrer', 'Forecast, permit and reading are three different things, and the discussion mixes them happily.', 31],
      ['Jonas Pell', 'Somebody at lunch said two and a half million litres. Somebody else said one. Both were sure.', 14],
      ['Harbour Pilot', 'Per day or per hour? I have seen both in the same table.', 8],
      ['Orrinmouth Resident', 'The town itself uses about two million litres a day, if that helps to imagine it.', 11],
      ['Patrick Osei', 'The second phase is not built. Leave it out.', 9],
      ['Lakeside Resident', 'GBR reported the daily average for which the permit application of the first phase asks, and later the daily average that the meters counted in the first full quarter. By how many million litres a day is the second figure lower than the first? I would like to have the number before the council meets.', 22],
      ['Ilse Tamminen', 'Outside air does most of the work up there, by the way.', 7],
    ],
  },
  {
    id: 24, author: 'Quentin Albright', bio: 'Database administrator', hours: 14, votes: 68, open: true,
    title: 'Read replicas lag for hours after a bulk import',
    body: ['The import takes forty minutes, the replicas need five hours to catch up, and in the meantime the shop shows yesterday’s prices. Smaller batches helped a little. What else is there?'],
    tags: ['databases', 'replication'],
    comments: [
      ['Ines Faro', 'Drop the secondary indexes that only the import touches. Replay is single-threaded.', 24],
      ['Henk Ossian', 'Send the shop to the primary while the lag is above a minute.', 20],
      ['Pavel Strand', 'Import into a new table and swap. The swap replicates in no time.', 28],
    ],
  },
  {
    id: 25, author: 'Thea Nordgren', bio: 'Embedded developer', hours: 7, votes: 165, open: true,
    title: 'Language models on a laptop: what works today?',
    body: ['No network in the field, eight gigabytes of memory, and a technician who wants an answer before the kettle boils. Which tasks can be left to AI on such a machine?'],
    tags: ['AI', 'hardware', 'offline'],
    comments: [
      ['Ravi Sundqvist', 'Sorting and tagging: yes. Summaries: short ones. Anything with arithmetic: no.', 43],
      ['Stellan Moss', 'Eight gigabytes is fine as long as nobody opens a browser.', 37],
    ],
  },
  {
    id: 26, author: 'Clement Ardagh', bio: 'Streaming engineer', hours: 40, votes: 54, open: true,
    title: 'Explain backpressure to a new colleague',
    body: ['I tried the picture with the bathtub, and now she believes that the answer is a larger bathtub. Which picture worked for you?'],
    tags: ['streaming', 'teaching'],
    comments: [
      ['Lin Abernathy', 'A restaurant where the kitchen may tell the waiters to stop seating people.', 49],
      ['Otto Feld', 'A larger bathtub is the answer surprisingly often. Just say for how long.', 22],
    ],
  },
];

const recommended = [20, 3, 1, 16, 6, 25, 11, 12, 22, 4, 24, 14, 7, 2, 23, 9, 21, 17, 18, 5, 26, 8, 13, 15, 10, 19];

function withIds(questionId, [author, text, likes, replies = []], index) {
  const id = questionId * 100 + index + 1;
  return {
    id,
    author,
    text,
    likes,
    replies: replies.map(([by, words, count], n) => ({ id: id * 10 + n + 1, author: by, text: words, likes: count })),
  };
}

export const posts = questions.map((question) => ({
  ...question,
  comments: question.comments.map((comment, index) => withIds(question.id, comment, index)),
}));

const byId = new Map(posts.map((post) => [post.id, post]));

export const postById = (id) => byId.get(id);

/** Questions of one tab of the home page, in its order. */
export function feed(tab) {
  if (tab === 'newest') return [...posts].sort((a, b) => a.hours - b.hours);
  const inOrder = recommended.map(postById);
  return tab === 'open' ? inOrder.filter((post) => post.open) : inOrder;
}

function score(post, words) {
  const contains = (text) => text.toLowerCase().includes(words);
  let total = 0;
  if (contains(post.title)) total += post.title.toLowerCase().startsWith(words) ? 12 : 8;
  if (post.tags.some(contains)) total += 6;
  if (contains(post.author)) total += 4;
  if (post.body.some((paragraph) => contains(paragraph.replace(/<[^>]*>/g, '')))) total += 3;
  if (post.comments.some((comment) => contains(comment.text))) total += 2;
  return total;
}

export function search(query) {
  const words = query.trim().toLowerCase();
  if (!words) return [];
  return posts
    .map((post) => ({ post, points: score(post, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points || a.post.id - b.post.id)
    .map(({ post }) => post);
}
