// Package gitea simulates the parts of the API of Gitea and Forgejo (v1) that a person's own
// repositories, stars, issues, pull requests and comments are read from, over real HTTP.
//
// # What it does as the server does
//
// Access. A request needs "token x" or "Bearer x"; a bad one answers 401, a token without a scope
// 403 with a message that names the scopes. What the person may not see answers 404.
//
// Paging. Pages have numbers; limit is cut down to what the server allows, which is less than was
// requested where the administrator configured it. Every list has X-Total-Count; those of repositories,
// issues and pull requests have Link, too, those of stars and comments have not. The total of stars
// counts repositories that the person may no longer see.
//
// Order. Repositories come by name, issues by their creation, newest first, comments by their
// creation, oldest first, pull requests by the sort parameter. since is inclusive and is compared with
// the time of the last change, in whole seconds.
//
// Form. Times have the offset of the server. A pull request has other members in the list of its
// repository than in a search, and another id; who merged it and how many lines it changes is in no list. An empty list
// of people is null.
//
// # Simulation
//
// All data follows from [Config] and the mutations. The ground truth has the records that a connector
// should keep, with the names of its streams.
package gitea
