package notion

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type answer struct {
	status int
	value  any
	header http.Header
}

func ok(value any) answer { return answer{status: http.StatusOK, value: value} }

func refuse(status int, code, message string) answer {
	return answer{status: status, value: object{"object": "error", "status": status, "code": code, "message": message, "request_id": "00000000-0000-4000-8000-0000000000ff"}}
}

// faultBody is how Notion words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	a := refuse(500, "internal_server_error", "Unexpected error occurred.")
	switch code {
	case "rate_limited":
		a = limited()
	case "token_expired":
		a = refuse(401, "unauthorized", "API token is invalid.")
	case "unavailable":
		a = refuse(503, "service_unavailable", "Notion is unavailable, please try again later.")
	}
	return providersim.EncodeJSON(a.value)
}

func limited() answer {
	return refuse(429, "rate_limited", "You have been rate limited. Please try again in a few minutes.")
}

func missing() answer {
	return refuse(404, "object_not_found", "Could not find the object. Make sure it is shared with your integration.")
}

func (n *Notion) routes() *http.ServeMux {
	mux := http.NewServeMux()
	on := func(pattern string, serve func(*http.Request) answer) { mux.HandleFunc(pattern, n.handle(serve)) }
	on("POST /v1/search", n.search)
	on("GET /v1/pages/{id}", n.one("page"))
	on("GET /v1/databases/{id}", n.one("database"))
	on("GET /v1/data_sources/{id}", n.one("data_source"))
	on("POST /v1/data_sources/{id}/query", n.query)
	on("GET /v1/blocks/{id}/children", n.children)
	on("/", func(*http.Request) answer { return refuse(400, "invalid_request_url", "Invalid request URL.") })
	return mux
}

func (n *Notion) handle(serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		defer n.mu.Unlock()
		var a answer
		switch {
		case r.Header.Get("Notion-Version") == "":
			a = refuse(400, "missing_version", "Notion-Version header failed validation.")
		case r.Header.Get("Notion-Version") < "2025-09-03": // the version that came with data sources
			a = refuse(400, "validation_error", "Databases with multiple data sources are not supported in this API version.")
		case n.Tokens.Check(r.Header.Get("Authorization"), "") != providersim.TokenActive:
			a = refuse(401, "unauthorized", "API token is invalid.")
		case !n.spend():
			a = limited()
			a.header = http.Header{"Retry-After": {"1"}}
		case n.blind:
			a = refuse(403, "restricted_resource", "Insufficient permissions for this endpoint.")
		default:
			a = serve(r)
		}
		for name, values := range a.header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = w.Write(providersim.EncodeJSON(a.value))
	}
}

// spend counts a request of the second.
func (n *Notion) spend() bool {
	now := n.cfg.Now()
	n.asked = slices.DeleteFunc(n.asked, func(t time.Time) bool { return now.Sub(t) >= time.Second })
	if n.cfg.Rate > 0 && len(n.asked) >= n.cfg.Rate {
		return false
	}
	n.asked = append(n.asked, now)
	return true
}

// place is what a cursor holds. Its number makes the one behind an empty page another one than its own.
type place struct {
	Of     string
	At     int
	Number int
}

// page answers one page of a list.
func page[T any](n *Notion, r *http.Request, of, cursor string, size int, all []T, render func(T) object) answer {
	if size < 1 || size > 100 {
		return refuse(400, "validation_error", "body failed validation: page_size should be at most 100.")
	}
	here := place{Of: of}
	if cursor != "" && (!n.signer.Open(cursor, &here) || here.Of != of) {
		return refuse(400, "validation_error", "start_cursor is not valid.")
	}
	fault := providersim.PageFaultFrom(r.Context())
	size = min(size, n.cfg.MaxPage)
	if n.served++; of != "" && n.served%3 == 0 && here.At > 0 {
		size = 0 // a page may be empty although more follow
	}
	from := min(here.At, len(all))
	to := min(from+fault.Size(size), len(all))
	rows := []object{}
	for _, x := range all[from:to] {
		rows = append(rows, render(x))
	}
	next := place{of, to, here.Number + 1}
	if fault.Size(size) < size {
		next.At = min(from+size, len(all))
	}
	out := object{"object": "list", "results": rows, "next_cursor": nil, "has_more": false}
	if token, more := fault.Next(n.signer.Seal(here), n.signer.Seal(next), next.At < len(all)); more {
		out["next_cursor"], out["has_more"] = token, true
	}
	return ok(out)
}

func (n *Notion) search(r *http.Request) answer {
	var q struct {
		Filter struct{ Property, Value string }
		Sort   struct{ Direction, Timestamp string }
		Size   int    `json:"page_size"`
		Cursor string `json:"start_cursor"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		return refuse(400, "invalid_json", "Error parsing JSON body.")
	}
	if q.Filter.Property != "object" || q.Filter.Value != "page" && q.Filter.Value != "data_source" ||
		q.Sort.Direction != "descending" || q.Sort.Timestamp != "last_edited_time" {
		return refuse(400, "validation_error", "body failed validation.")
	}
	return typed(page(n, r, q.Filter.Value, q.Cursor, q.Size, n.shown(q.Filter.Value), n.object), "page_or_data_source")
}

// typed adds the members that name the kind of a list.
func typed(a answer, kind string) answer {
	if o, list := a.value.(object); list && a.status == http.StatusOK {
		o["type"], o[kind] = kind, object{}
	}
	return a
}

// query answers the rows of a data source, the last edited first, from a moment on.
func (n *Notion) query(r *http.Request) answer {
	var q struct {
		Sorts  []struct{ Direction, Timestamp string }
		Filter *struct {
			Timestamp string
			Edited    struct {
				From time.Time `json:"on_or_after"`
			} `json:"last_edited_time"`
		}
		Size   int    `json:"page_size"`
		Cursor string `json:"start_cursor"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		return refuse(400, "invalid_json", "Error parsing JSON body.")
	}
	if len(q.Sorts) != 1 || q.Sorts[0].Direction != "descending" || q.Sorts[0].Timestamp != "last_edited_time" ||
		q.Filter != nil && q.Filter.Timestamp != "last_edited_time" {
		return refuse(400, "validation_error", "body failed validation.")
	}
	for _, source := range n.things {
		if source.kind != "data_source" || source.id != r.PathValue("id") || !source.there() {
			continue
		}
		var rows []*thing
		for _, t := range n.things {
			if t.kind == "page" && t.of == source && t.there() &&
				(q.Filter == nil || !t.edited.Truncate(time.Minute).Before(q.Filter.Edited.From)) {
				rows = append(rows, t)
			}
		}
		latest(rows)
		return typed(page(n, r, source.id, q.Cursor, q.Size, rows, n.object), "page_or_data_source")
	}
	return missing()
}

func (n *Notion) one(kind string) func(*http.Request) answer {
	return func(r *http.Request) answer {
		for _, t := range n.things {
			if t.kind == kind && t.id == r.PathValue("id") && !t.purged {
				return ok(n.object(t))
			}
		}
		return missing()
	}
}

func (n *Notion) children(r *http.Request) answer {
	id, q := r.PathValue("id"), r.URL.Query()
	size, err := strconv.Atoi(q.Get("page_size"))
	if err != nil {
		size = 0
	}
	for _, t := range n.things {
		if t.trash || t.purged {
			continue
		}
		blocks, closed, found := t.blocks, false, t.id == id
		if !found && !slices.ContainsFunc(n.things, func(other *thing) bool { return other.id == id }) {
			if b := find(t.blocks, id); b != nil {
				blocks, closed, found = b.children, b.closed, true
				if b.kind == "child_page" || b.kind == "synced_block" { // what another place has
					blocks = []*block{{id: "00000000-0000-4000-8000-00000000000e", kind: "paragraph", text: "elsewhere"}}
				}
			}
		}
		switch {
		case found && closed:
			return missing()
		case found:
			return typed(page(n, r, "", q.Get("start_cursor"), size, blocks, (*block).object), "block")
		}
	}
	return missing()
}

func find(blocks []*block, id string) *block {
	for _, b := range blocks {
		if b.id == id {
			return b
		}
		if within := find(b.children, id); within != nil {
			return within
		}
	}
	return nil
}
