package notion

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed             uint64
	Pages, Databases int
	Blocks           int  // of each page
	Nested           bool // blocks hold others
	MaxPage          int  // things in a page of a list (100)
	Rate             int  // requests that a token may make in any second; zero is no limit

	Token             string           // the first token; empty means one derived from Seed
	Now               func() time.Time // clock of the limit and of the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// Notion is one simulated account. It is safe for concurrent use.
type Notion struct {
	*rest.Service
	cfg    Config
	things []*simObject
	blind  bool
}

// New returns an account generated from cfg.
func New(cfg Config) *Notion {
	cfg.MaxPage = cmp.Or(cfg.MaxPage, 100)
	n := &Notion{cfg: cfg}
	n.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("ntn_%016x", cfg.Seed)),
		Now: cfg.Now, Clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Tick: 2 * time.Minute, Errors: renderError,
		Guard: n.guard, Limit: rest.Limit{Rate: cfg.Rate, Window: time.Second, Announce: true},
		Truth: n.truth})
	n.Operations = n.operations()
	n.Handle("POST /v1/search", "", n.serveSearch)
	n.Handle("POST /v1/data_sources/{id}/query", "", n.serveQuery)
	n.Handle("GET /v1/blocks/{id}/children", "", n.serveChildren)
	for _, kind := range []string{"page", "database", "data_source"} {
		n.Handle("GET /v1/"+kind+"s/{id}", "", func(r *http.Request) rest.Answer {
			if t := n.findObject(r.PathValue("id")); t != nil && t.kind == kind && !t.purged {
				return rest.OK(n.renderObject(t))
			}
			return n.Refuse(r, rest.NotFound, "")
		})
	}
	for range cfg.Databases {
		n.addObject("database")
	}
	for range cfg.Pages {
		n.addObject("page")
	}
	return n
}

// operations are the mutations of the control port.
func (n *Notion) operations() map[string]func() string {
	// change changes a random object without its time of edit: nothing announces the trash or the end of a share.
	change := func(kind string, do func(*simObject)) func() string {
		return rest.Edit(n.Service, func() []*simObject { return n.searchable(kind) }, nil,
			func(t *simObject) string { do(t); return t.id })
	}
	edit := func(kind string, do func(*simObject)) func() string {
		return change(kind, func(t *simObject) { do(t); t.edited = n.Clock() })
	}
	return map[string]func() string{
		"write":         func() string { return n.addObject("page").id },
		"edit":          edit("page", func(t *simObject) { t.blocks[0].text += " edited" }),
		"rename":        edit("page", func(t *simObject) { t.title += " renamed" }),
		"remove_blocks": edit("page", func(t *simObject) { t.blocks = t.blocks[:len(t.blocks)-1] }),
		"add_blocks":    edit("page", func(t *simObject) { t.blocks = append(t.blocks, n.writeBlock(0)) }),
		"redesign":      edit("data_source", func(t *simObject) { t.title += " redesigned" }),
		"add_database":  func() string { return n.addObject("database").id },
		"trash":         change("page", func(t *simObject) { t.trash = true }),
		"unshare":       change("page", func(t *simObject) { t.purged = true }),
		"trash_database": change("database", func(t *simObject) {
			t.trash = true
			for _, row := range n.things { // and what is in it
				row.trash = row.trash || row.kind == "page" && row.of != nil && row.of.of == t
			}
		}),
		// A row, or a page within another one, that search never shows.
		"hide_row": func() string {
			t := n.addObject("page")
			t.moveToSource(rest.Pick(n.Service, n.searchable("data_source"), nil))
			t.unlisted = true
			return t.id
		},
		"nest": edit("page", func(holder *simObject) {
			t := n.addObject("page")
			t.unlisted, t.nested, t.of = true, true, nil
			t.parent = jsonObject{"type": "page_id", "page_id": holder.id}
			holder.blocks = append(holder.blocks, &simBlock{id: t.id, kind: "child_page", text: t.title, edited: n.Clock()})
		}),
		"edit_hidden": func() string {
			for _, t := range n.things {
				if t.unlisted && t.isReadable() && (t.of != nil || t.nested) {
					t.title, t.edited = t.title+" edited", n.Clock()
					return t.id
				}
			}
			return ""
		},
		// Search does not have it for a time, and then with the time that it had.
		"import": func() string {
			t := n.addObject("page")
			t.unlisted, t.edited = true, n.things[0].edited
			return t.id
		},
		"index": func() string {
			for _, t := range n.things {
				t.unlisted, t.lost = t.unlisted && t.nested, false
			}
			return ""
		},
		// A page leaves the index and is there all the same.
		"unlist": change("page", func(t *simObject) { t.lost = true }),
		"close": change("page", func(t *simObject) {
			for _, b := range t.blocks {
				b.closed = len(b.children) > 0
			}
		}),
		"blind": func() string { n.blind = true; return "" },
	}
}

func apiError(status int, code, message string) rest.Answer {
	return rest.Answer{Status: status, Body: jsonObject{"object": "error", "status": status, "code": code,
		"message": message, "request_id": "00000000-0000-4000-8000-0000000000ff"}}
}

var invalidBody = apiError(400, "validation_error", "body failed validation.")

func renderError(f rest.Refusal) rest.Answer {
	switch f.Problem {
	case rest.RateLimited:
		return apiError(429, "rate_limited", "You have been rate limited. Please try again in a few minutes.")
	case rest.Unavailable:
		return apiError(503, "service_unavailable", "Notion is unavailable, please try again later.")
	case rest.NoToken, rest.BadToken, rest.ExpiredToken:
		return apiError(401, "unauthorized", "API token is invalid.")
	case rest.NotFound:
		return apiError(404, "object_not_found", "Could not find the object. Make sure it is shared with your integration.")
	case rest.NoRoute:
		return apiError(400, "invalid_request_url", "Invalid request URL.")
	case rest.BadParameter:
		return apiError(400, "validation_error", f.Name+" is not valid.")
	}
	return apiError(500, "internal_server_error", "Unexpected error occurred.")
}

func (n *Notion) guard(r *http.Request) rest.Answer {
	switch version := r.Header.Get("Notion-Version"); {
	case version == "":
		return apiError(400, "missing_version", "Notion-Version header failed validation.")
	case version < "2025-09-03": // the version that came with data sources
		return apiError(400, "validation_error",
			"Databases with multiple data sources are not supported in this API version.")
	case n.blind:
		return apiError(403, "restricted_resource", "Insufficient permissions for this endpoint.")
	}
	return rest.Answer{}
}

// serveThings answers one page of a list. Pages of a search may be empty although more follow.
func serveThings[T any](n *Notion, r *http.Request, kind string, list rest.List[T]) rest.Answer {
	return rest.Serve(n.Service, r, rest.Pager{Style: rest.Token, Place: "start_cursor", Size: "page_size", Most: 100,
		Exact: true, Cap: n.cfg.MaxPage, Gaps: kind != "block", Items: "results", Next: "next_cursor",
		Extend: func(_ *http.Request, page rest.Page, body jsonObject) {
			body["object"], body["has_more"], body["type"], body[kind] = "list", page.More, kind, jsonObject{}
		}}, list)
}

// question is the body of a search or of a query.
type question struct {
	Filter struct {
		Property, Value, Timestamp string
		Edited                     struct {
			From time.Time `json:"on_or_after"`
		} `json:"last_edited_time"`
	}
	Sort   struct{ Direction, Timestamp string }
	Sorts  []struct{ Direction, Timestamp string }
	Size   json.Number `json:"page_size"`
	Cursor string      `json:"start_cursor"`
}

// answerObjects answers objects, the last edited first.
func (n *Notion) answerObjects(r *http.Request, q question, of string, all []*simObject) rest.Answer {
	slices.SortStableFunc(all, func(a, b *simObject) int { return b.editedMinute().Compare(a.editedMinute()) })
	return serveThings(n, r, "page_or_data_source", rest.List[*simObject]{Of: of, All: all, Show: n.renderObject,
		Params: url.Values{"page_size": {q.Size.String()}, "start_cursor": {q.Cursor}}})
}

func (n *Notion) serveSearch(r *http.Request) rest.Answer {
	var q question
	if json.NewDecoder(r.Body).Decode(&q) != nil || q.Filter.Property != "object" ||
		q.Filter.Value != "page" && q.Filter.Value != "data_source" || q.Sort.Direction != "descending" ||
		q.Sort.Timestamp != "last_edited_time" {
		return invalidBody
	}
	return n.answerObjects(r, q, q.Filter.Value, n.searchable(q.Filter.Value))
}

// serveQuery answers the rows of a data source from a moment on.
func (n *Notion) serveQuery(r *http.Request) rest.Answer {
	var q question
	if json.NewDecoder(r.Body).Decode(&q) != nil || len(q.Sorts) != 1 || q.Sorts[0].Direction != "descending" ||
		q.Sorts[0].Timestamp != "last_edited_time" || !slices.Contains([]string{"", "last_edited_time"}, q.Filter.Timestamp) {
		return invalidBody
	}
	source := n.findObject(r.PathValue("id"))
	if source == nil || source.kind != "data_source" || !source.isReadable() {
		return n.Refuse(r, rest.NotFound, "")
	}
	return n.answerObjects(r, q, source.id, rest.Filter(n.things, func(t *simObject) bool {
		return t.kind == "page" && t.of == source && t.isReadable() && !t.editedMinute().Before(q.Filter.Edited.From)
	}))
}

func (n *Notion) serveChildren(r *http.Request) rest.Answer {
	id := r.PathValue("id")
	blocks, found := []*simBlock(nil), false
	if t := n.findObject(id); t != nil {
		blocks, found = t.blocks, !t.trash && !t.purged
	} else {
		for _, t := range n.things {
			if b := findBlock(t.blocks, id); b != nil && !t.trash && !t.purged {
				if blocks, found = b.children, !b.closed; b.kind == "child_page" || b.kind == "synced_block" {
					blocks = []*simBlock{elsewhere} // what another place has
				}
				break
			}
		}
	}
	if !found {
		return n.Refuse(r, rest.NotFound, "")
	}
	return serveThings(n, r, "block", rest.List[*simBlock]{All: blocks, Show: (*simBlock).toJSON})
}

// Server is a running account.
type Server = providersim.Running[*Notion]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("notion", New(cfg), cfg.Addr, cfg.ControlAddr)
}
