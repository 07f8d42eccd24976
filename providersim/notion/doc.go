// Package notion simulates the parts of Notion's API that a person's own pages are read from, over real HTTP.
//
// # What it does as Notion does
//
// Access. A request needs "Bearer x" and a Notion-Version; a bad token answers 401 in Notion's envelope, a token that
// may not read content 403 ("blind").
//
// Search is an index: the last edited first, with an opaque cursor that is refused with another question than its
// own. A page of it may be short, and every third one is empty although more follow. It has nothing of the trash, and
// shows what was imported only later ("import", then "index"), with the time of its last edit and not that of its
// coming.
//
// Change. Times are rounded to the minute. Only a request for an object shows that it is in the trash; what is
// purged or not shared any more answers 404.
//
// Blocks. A block that holds others is asked for its children. Pages within a page are blocks that hold nothing here, a
// synced copy shows the original's, and unknown types occur.
//
// Limit. Config.Rate requests in any second; a refusal has Retry-After in whole seconds.
//
// Databases. A database holds data sources, which hold the rows; search shows data sources and no databases. A query
// lists all rows, also those that search does not show ("hide_row"). A page within another one may be in no search
// ("nest"): the block that names it has its id. An older Notion-Version than 2025-09-03 is refused.
//
// # Where this comes from
//
// Notion's reference and upgrade guide for version 2025-09-03, and the types of the package @notionhq/client 5.26.0
// for npm, with which the members were compared. "Search is not guaranteed to return everything": the page "Search
// optimizations and limitations". Limits: the page "Request limits".
//
// # What is not known of Notion and decided here
//
// The children of a page in the trash answer 404.
//
// # Simulation
//
// All data follows from [Config] and the mutations.
package notion
