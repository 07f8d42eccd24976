package routes

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (s *surface) reading() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/explore/streams", func(r *http.Request) (any, error) {
			q, err := queryOf(r, "connection_id")
			if err != nil {
				return nil, err
			}
			return listOf(s.owner.Streams(r.Context(), q.Get("connection_id")))
		}),
		s.get("GET /_ref/explore/overview", func(r *http.Request) (any, error) {
			if _, err := queryOf(r); err != nil {
				return nil, err
			}
			return s.owner.Kept(r.Context())
		}),
		s.get("GET /_ref/storage", func(r *http.Request) (any, error) {
			if _, err := queryOf(r); err != nil {
				return nil, err
			}
			return s.owner.Storage(r.Context())
		}),
		s.get("GET /_ref/explore/days", func(r *http.Request) (any, error) {
			q, err := queryOf(r, "connection_id", "stream", "from", "to", "nearest")
			if err != nil {
				return nil, err
			}
			nearest, err := oneOf(q, "nearest", "false", "true")
			if err != nil {
				return nil, err
			}
			return listOf(s.owner.Days(r.Context(), api.DayQuery{ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), From: q.Get("from"), To: q.Get("to"), Nearest: nearest == "true"}))
		}),
		s.get("GET /_ref/explore/records", s.records),
		s.get("GET /_ref/explore/records/{connection}/{stream}/{key...}", s.record),
		s.get("GET /_ref/explore/changes", s.changes),
		s.get("GET /_ref/explore/aggregate", s.aggregate),
		s.get("GET /_ref/search", s.search),
		{Pattern: "GET /_ref/export", Handle: s.export},
		{Pattern: "GET /_ref/files/{sha256}", Handle: s.file},
	}
}

func (s *surface) records(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection_id", "stream", "cursor", "order", "changes", "limit", "filter", "by", "since", "until", "thread", "keys", "fields", "total", "completeness")
	if err != nil {
		return nil, err
	}
	size, err := limit(q)
	if err != nil {
		return nil, err
	}
	order, err := oneOf(q, "order", "desc", "asc")
	if err != nil {
		return nil, err
	}
	changes, err := oneOf(q, "changes", "false", "true")
	if err != nil {
		return nil, err
	}
	ask := api.RecordQuery{
		ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), Cursor: q.Get("cursor"),
		Oldest: order == "asc", Changes: changes == "true", Where: filters(q), Compare: comparisons(q), Limit: size,
	}
	if keys := q.Get("keys"); keys != "" && json.Unmarshal([]byte(keys), &ask.Keys) != nil {
		return nil, api.Invalid("keys", "That is not a list of keys.", `Write it as JSON, like ["a1","a2"].`)
	}
	if fields := q.Get("fields"); fields != "" && json.Unmarshal([]byte(fields), &ask.Fields) != nil {
		return nil, api.Invalid("fields", "That is not a list of fields.", `Write it as JSON, like ["title","text"].`)
	}
	if err := byTime(q, &ask); err != nil {
		return nil, err
	}
	completeness, err := oneOf(q, "completeness", "false", "true")
	if err != nil {
		return nil, err
	}
	ask.Completeness = completeness == "true"
	return recordPage(s.owner.Records(r.Context(), ask))
}

// byTime reads what a list in the order of time is bounded by.
func byTime(q url.Values, ask *api.RecordQuery) error {
	by, err := oneOf(q, "by", "change", "time")
	if err != nil {
		return err
	}
	ask.ByTime = by == "time"
	if ask.Since, err = moment(q, "since"); err != nil {
		return err
	}
	if ask.Until, err = moment(q, "until"); err != nil {
		return err
	}
	ask.Thread = q.Get("thread")
	total, err := oneOf(q, "total", "false", "true")
	ask.Total = total == "true"
	return err
}

// moment reads a time, or a date as its beginning in UTC; zero when there is none.
func moment(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, ok := api.ParseMoment(text)
	if !ok {
		return at, api.Invalid(name, "That is not a time.", "Use one like 2026-03-04T05:06:07Z, or a date like 2026-03-04.")
	}
	return at, nil
}

func (s *surface) aggregate(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection_id", "stream", "metric", "field", "group_by", "granularity", "groups", "filter")
	if err != nil {
		return nil, err
	}
	groups, err := number(q, "groups")
	if err != nil {
		return nil, err
	}
	return s.owner.Aggregate(r.Context(), api.AggregateQuery{
		ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), Where: filters(q), Compare: comparisons(q), Metric: q.Get("metric"),
		Field: q.Get("field"), GroupBy: q.Get("group_by"), Granularity: q.Get("granularity"), Limit: int(min(groups, 1<<30)),
	})
}

func (s *surface) changes(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection_id", "stream", "after", "limit")
	if err != nil {
		return nil, err
	}
	size, err := limit(q)
	if err != nil {
		return nil, err
	}
	after, err := number(q, "after")
	if err != nil {
		return nil, err
	}
	return listOf(s.owner.Changes(r.Context(), api.ChangeQuery{ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), After: after, Limit: size}))
}

func (s *surface) search(r *http.Request) (any, error) {
	q, err := queryOf(r, "q", "connection_id", "stream", "cursor", "limit")
	if err != nil {
		return nil, err
	}
	size, err := limit(q)
	if err != nil {
		return nil, err
	}
	return recordPage(s.owner.Search(r.Context(), api.SearchQuery{
		Text: q.Get("q"), ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), Cursor: q.Get("cursor"), Limit: size,
	}))
}

// recordsAnswer is a page of records, with how much is here of what it lists.
type recordsAnswer struct {
	totalled[api.Record]
	Completeness *api.Completeness `json:"completeness,omitempty"`
}

func recordPage(p api.RecordPage, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return recordsAnswer{totalled[api.Record]{page(p.Records, p.Next), p.Total}, p.Completeness}, nil
}

// oneRecord is a record with its history.
type oneRecord struct {
	Record   api.Record   `json:"record"`
	Versions []api.Record `json:"versions"`
}

// record takes the whole rest of the address as the key: "/" is a key that a directory
// can have, and no single segment of a pattern.
func (s *surface) record(r *http.Request) (any, error) {
	newest, versions, err := s.owner.Record(r.Context(), r.PathValue("connection"), r.PathValue("stream"), r.PathValue("key"))
	if versions == nil {
		versions = []api.Record{}
	}
	return oneRecord{newest, versions}, err
}
