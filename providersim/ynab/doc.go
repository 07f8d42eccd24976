// Package ynab simulates the parts of YNAB's API that a person's own budgets are read from, over real HTTP.
//
// # What it does as YNAB does
//
// Access. A request needs "Bearer x"; a bad one answers 401 in YNAB's envelope, an account with a subscription that has
// ended 403.1 ("lapse").
//
// Collections come whole in one answer, without paging. With last_knowledge_of_server an answer holds what
// changed after that number and the deleted rows, marked; without it no deleted row. An answer about categories
// has the groups that hold changed ones, each with only these. Places of payees, budgets and the months one by one
// report no changes. A number that is ahead of the budget's own gets an empty answer with the budget's, which is lower
// ("rewind").
//
// Limit. Config.Rate requests in any hour; a refusal names no time.
//
// Transactions. Without since_date an answer holds those of the last year only.
//
// Names. The list is called plans; the older name budgets answers as well.
//
// # Where this comes from
//
// YNAB API Endpoints, OpenAPI document 1.85.0 (2026-06-29): paths, members, the default of since_date, money movements
// without knowledge and without deleted rows. Members were compared with the types of the package ynab 4.1.0 for
// npm. The limit and its missing header: YNAB's page "Rate Limiting".
//
// # What is not known of YNAB and decided here
//
// A renamed payee brings its transactions again, a deleted category the months that had it. A deleted category
// is in every second month, marked, and is absent from the others.
//
// # Simulation
//
// All data follows from [Config] and the mutations. The months are those before [Config.Now].
package ynab
