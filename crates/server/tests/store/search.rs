//! Search over what was said in conversations.

use cdpilot_server::store::{Batch, StoredText, TextQuery};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::store_files::{Database, soon};
use crate::support::share::rounds;

fn says(database: &Database, conversation: &str, all: &[Value]) {
    let batch = all.iter().fold(Batch::new(), |batch, one| batch.message(one.clone()));
    database.store().commit(conversation, batch, soon()).unwrap();
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn asked(query: &str) -> TextQuery {
    TextQuery { terms: TextQuery::terms_of(query), ..TextQuery::default() }
}

fn find(database: &Database, query: &str) -> Vec<StoredText> {
    database.store().search_texts(&asked(query), 5, soon()).unwrap()
}

fn bodies(found: &[StoredText]) -> Vec<&str> {
    found.iter().map(|text| &*text.body).collect()
}

/// Places, things, and a sentence with a place and a thing.
type Language = (&'static [&'static str], &'static [&'static str], fn(&str, &str) -> String);

const LANGUAGES: [Language; 6] = [
    (
        &["Bristol", "Leeds", "Dover", "Oxford", "Brighton", "Hull"],
        &["umbrella", "bicycle", "lantern", "kettle", "blanket", "compass"],
        |place, thing| format!("Yesterday we left the {thing} at the station in {place}, near the exit."),
    ),
    (
        &["München", "Köln", "Görlitz", "Lübeck", "Zürich", "Würzburg"],
        &["Regenschirm", "Fahrrad", "Laterne", "Wasserkessel", "Schlüssel", "Kompass"],
        |place, thing| format!("Gestern haben wir in {place} am Bahnhof den Gegenstand {thing} vergessen."),
    ),
    (
        &["東京", "大阪", "札幌", "横浜", "名古屋", "京都"],
        &["傘", "自転車", "ランタン", "やかん", "毛布", "羅針盤"],
        |place, thing| format!("昨日、私たちは{place}の駅の出口の近くに{thing}を忘れました。"),
    ),
    (
        &["北京", "上海", "广州", "成都", "南京", "哈尔滨"],
        &["雨伞", "自行车", "灯笼", "水壶", "毯子", "指南针"],
        |place, thing| format!("昨天我们把{thing}忘在{place}车站的出口附近了。"),
    ),
    (
        &["القاهرة", "بيروت", "عمان", "الرباط", "تونس", "دمشق"],
        &["مظلة", "دراجة", "فانوس", "غلاية", "بطانية", "بوصلة"],
        |place, thing| format!("نسينا أمس {thing} في محطة {place} بالقرب من المخرج."),
    ),
    (
        &["กรุงเทพ", "เชียงใหม่", "ภูเก็ต", "ขอนแก่น", "อยุธยา", "ระยอง"],
        &["ร่ม", "จักรยาน", "โคมไฟ", "กาน้ำ", "ผ้าห่ม", "เข็มทิศ"],
        |place, thing| format!("เมื่อวานเราลืม{thing}ไว้ที่สถานี{place}ใกล้ทางออก"),
    ),
];

#[test]
fn planted_sentences_are_found_in_six_languages() {
    let database = Database::new();
    let (mut planted, mut missed) = (0, Vec::new());
    let all = LANGUAGES.map(|(places, things, sentence)| {
        let pairs = places.iter().flat_map(|place| things.iter().map(move |thing| (*place, *thing)));
        // The last pairs are asked for, too, although nobody has said them: some of their words occur.
        pairs.take(34).map(|(place, thing)| (sentence(place, thing), format!("{place} {thing}"))).collect::<Vec<_>>()
    });
    for (at, language) in all.iter().enumerate() {
        let id = format!("c{at}");
        database.create(&id);
        says(&database, &id, &language.iter().map(|(sentence, _)| user(sentence)).collect::<Vec<_>>());
    }
    for (sentence, query) in all.iter().flatten() {
        planted += 1;
        let found = find(&database, query);
        if !found.iter().take(1).any(|text| text.body == *sentence) {
            missed.push((query, found));
        }
    }
    assert!(missed.len() * 20 <= planted, "{} of {planted}: {missed:#?}", missed.len());
    // Without diacritics, in another case, and by the beginning.
    for (query, with) in
        [("munchen regenschirm", "München"), ("KÖLN Laterne", "Köln"), ("\"in Lübeck am\" wasser*", "Lübeck")]
    {
        assert!(find(&database, query)[0].body.contains(with), "{query}");
    }
}

#[test]
fn words_come_first_then_parts_then_some_and_the_newest_among_equals() {
    let database = Database::new();
    database.create("c1");
    let texts = ["the ticket", "tickets for two", "a red ticket", "the ticket again", "something else", "rotickets"];
    says(&database, "c1", &texts.map(user));
    assert_eq!(bodies(&find(&database, "ticket"))[..3], ["the ticket again", "a red ticket", "the ticket"]);
    assert_eq!(find(&database, "ticket").len(), 5, "parts of words follow");
    assert_eq!(
        bodies(&find(&database, "red ticket else"))[0..2].iter().filter(|text| **text == "a red ticket").count(),
        1
    );
    assert_eq!(bodies(&find(&database, "\"ticket again\"")), ["the ticket again"]);
    // Neither operators nor quotes are anything but text.
    for odd in ["ticket OR", "NEAR(a b)", "\"", "a\" OR \"b", "body:ticket", "-ticket", "ticket^2", "%", "_"] {
        find(&database, odd);
    }
    assert!(find(&database, "%").is_empty() && find(&database, "").is_empty());
}

#[test]
fn scopes_and_neighbours() {
    let database = Database::new();
    for id in ["c1", "c2"] {
        database.create(id);
        says(&database, id, &["before", "the lighthouse", "after"].map(user));
    }
    let found = find(&database, "lighthouse");
    assert_eq!(found.iter().map(|text| &*text.conversation).collect::<Vec<_>>(), ["c2", "c1"]);
    let around = database.store().texts_around(found[1].n, (1, 1), soon()).unwrap();
    assert_eq!(bodies(&around), ["before", "the lighthouse", "after"]);
    let only = TextQuery { conversation: Some("c1".to_owned()), ..asked("lighthouse") };
    assert_eq!(database.store().search_texts(&only, 5, soon()).unwrap().len(), 1);
    let except = TextQuery { except: Some("c2".to_owned()), ..asked("lighthouse") };
    assert_eq!(database.store().search_texts(&except, 5, soon()).unwrap()[0].conversation, "c1");
}

#[test]
fn what_was_condensed_is_found_and_what_was_deleted_is_not() {
    let mut database = Database::new();
    database.create("c1");
    says(&database, "c1", &["the lighthouse", "the harbour"].map(user));
    let summary = json!({ "role": "user", "content": "we spoke about places", "kind": "summary" });
    database.store().replace_messages("c1", 1, vec![summary, user("the harbour")], soon()).unwrap();
    assert_eq!(bodies(&find(&database, "lighthouse")), ["the lighthouse"]);
    assert_eq!(find(&database, "harbour").len(), 1, "once");
    assert!(find(&database, "spoke").is_empty());
    assert!(database.store().delete_conversation("c1", soon()).unwrap());
    assert!(find(&database, "lighthouse").is_empty());
    let file = Connection::open(database.close()).unwrap();
    for table in ["texts_by_word", "texts_by_part"] {
        let check = format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)");
        file.execute_batch(&check).unwrap();
        let left: i64 = file
            .query_row(&format!("SELECT count(*) FROM {table} WHERE {table} MATCH 'lighthouse'"), [], |row| row.get(0))
            .unwrap();
        assert_eq!(left, 0, "{table}");
    }
}

#[test]
fn messages_of_an_older_format_are_found_after_the_migration() {
    let mut database = Database::new();
    database.create("c1");
    says(&database, "c1", &[user("the lighthouse"), json!({ "role": "assistant", "content": null })]);
    let file = Connection::open(database.close()).unwrap();
    file.execute_batch("DROP TABLE texts; DROP TABLE texts_by_word; DROP TABLE texts_by_part; PRAGMA user_version = 5")
        .unwrap();
    drop(file);
    assert_eq!(database.reopen().unwrap(), None);
    assert_eq!(bodies(&find(&database, "lighthouse")), ["the lighthouse"]);
}

#[test]
fn random_queries_fail_never() {
    let database = Database::new();
    database.create("c1");
    says(&database, "c1", &[user("a text with \"quotes\" and 100 % of everything*")]);
    let signs: Vec<char> = "ab\"*%_-()^:+ 東ท'\\".chars().collect();
    for _ in 0..rounds("CDPILOT_TEST_QUERIES", 300, 20_000) {
        let query: String = (0..fastrand::usize(0..12)).map(|_| *fastrand::choice(&signs).unwrap()).collect();
        find(&database, &query);
    }
}
