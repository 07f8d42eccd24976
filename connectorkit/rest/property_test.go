package rest_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

const lampManifest = `{"protocol_version":"0.1.0","connector_id":"https://registry.example/lamps",
	"connector_key":"lamps","version":"1.0.0","display_name":"Lamps",
	"runtime_requirements":{"bindings":{"network":{"required":true}}},
	"streams":[` + lampStream + `,"name":"rooms"},` + lampStream + `,"name":"lamps"},` +
	lampStream + `,"name":"nights"},` + lampStream + `,"name":"log"}]}`

const lampStream = `{"semantics":"mutable_state","checkpoint":"slice","primary_key":"id","consent_time_field":"day",
	"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"n":{"type":"integer"},
	"day":{"type":"string"},"room":{"type":"string"}}}`

var lampSource = rest.Source{
	BaseURL: "https://lamps.example/v1",
	Streams: []rest.Stream{
		{Name: "rooms", Request: rest.Request{Path: "rooms"}, Pages: rest.PageNumber{Param: "page"}, Shared: true},
		{Name: "lamps", Request: rest.Request{Path: "rooms/{id}/lamps"}, Items: "items",
			Pages: rest.Offset{Param: "offset"}, Partitions: rest.ParentsOf("rooms", "id", nil, nil),
			Fields: rest.Fields{"room": rest.FromPartition("id")}},
		{Name: "nights", Request: rest.Request{Path: "nights"}, Items: "items",
			Pages:  rest.NextToken{Param: "token", Member: "next"},
			Fields: rest.Fields{"day": rest.From("day").Day()},
			Sync:   rest.DateWindows{From: "from", To: "to", Since: "2026-01-01", Days: 9, Again: 20}},
		{Name: "log", Request: rest.Request{Path: "log"}, Items: "items", Deleted: rest.Match{Path: "gone"},
			Sync: rest.ChangeFeed{Param: "since", Member: "next", More: "more"}},
	},
}

// lampServer is a provider with lists of every kind, written from what a reader of its answers may expect.
type lampServer struct {
	r      *rand.Rand
	now    time.Time
	items  map[string]map[string]string // JSON by list and id
	log    []string                     // changes in their order
	number int
	quiet  bool
}

// happen changes something: a room, a lamp of a room, a night of the last days, an entry of the log.
func (s *lampServer) happen() {
	list := []string{"rooms", "lamps", "nights", "log"}[s.r.IntN(4)]
	known := slices.Sorted(maps.Keys(s.items[list]))
	s.number++
	id := fmt.Sprintf("%s-%d", list, s.number)
	if s.r.IntN(3) > 0 && len(known) > 0 {
		id = known[s.r.IntN(len(known))]
	}
	day := s.now.AddDate(0, 0, -s.r.IntN(15)).Format(time.DateOnly)
	value := fmt.Sprintf(`{"id":%q,"n":%d}`, id, s.number)
	switch rooms := slices.Sorted(maps.Keys(s.items["rooms"])); {
	case list == "nights":
		value = fmt.Sprintf(`{"id":%q,"n":%d,"day":%q}`, id, s.number, day)
	case list == "lamps" && len(rooms) == 0:
		return
	case list == "lamps":
		value = fmt.Sprintf(`{"id":%q,"n":%d,"room":%q}`, id, s.number, rooms[s.r.IntN(len(rooms))])
	}
	if s.items[list][id] == "" || s.r.IntN(3) > 0 {
		s.items[list][id] = value
		s.log = append(s.log, value)
	} else {
		delete(s.items[list], id)
		s.log = append(s.log, fmt.Sprintf(`{"id":%q,"gone":true}`, id))
	}
	if list != "log" {
		s.log = s.log[:len(s.log)-1]
	}
	for key, lamp := range s.items["lamps"] { // a lamp goes with its room
		if room := lamp[bytes.LastIndex([]byte(lamp), []byte(`:"`))+2 : len(lamp)-2]; s.items["rooms"][room] == "" {
			delete(s.items["lamps"], key)
		}
	}
}

const perPage = 3

// RoundTrip answers a request.
func (s *lampServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.quiet && s.r.IntN(3) == 0 {
		s.happen()
	}
	body := s.answer(r.URL.Path, r.URL.Query())
	return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(bytes.NewBufferString(body)),
		Header: http.Header{"Date": {s.now.UTC().Format(http.TimeFormat)}, "Content-Type": {"application/json"}}}, nil
}

func (s *lampServer) answer(path string, q url.Values) string {
	list, keep := "rooms", func(string) bool { return true }
	at := 0
	switch {
	case path == "/v1/rooms":
		page, _ := strconv.Atoi(q.Get("page"))
		at = (page - 1) * perPage
	case path == "/v1/nights":
		list = "nights"
		keep = func(v string) bool {
			day := v[len(v)-12 : len(v)-2]
			return q.Get("from") <= day && day <= q.Get("to")
		}
		at, _ = strconv.Atoi(q.Get("token"))
	case path == "/v1/log":
		at, _ := strconv.Atoi(q.Get("since"))
		end := min(at+perPage, len(s.log))
		return fmt.Sprintf(`{"items":[%s],"next":"%d","more":%t}`, join(s.log[at:end]), end, end < len(s.log))
	default:
		list = "lamps"
		room := fmt.Sprintf(`"room":%q`, path[len("/v1/rooms/"):len(path)-len("/lamps")])
		keep = func(v string) bool { return bytes.Contains([]byte(v), []byte(room)) }
		at, _ = strconv.Atoi(q.Get("offset"))
	}
	var all []string
	for _, id := range slices.Sorted(maps.Keys(s.items[list])) {
		if keep(s.items[list][id]) {
			all = append(all, s.items[list][id])
		}
	}
	at = min(at, len(all))
	end := min(at+perPage, len(all))
	if list == "rooms" {
		return "[" + join(all[at:end]) + "]"
	}
	next := ""
	if end < len(all) {
		next = strconv.Itoa(end)
	}
	return fmt.Sprintf(`{"items":[%s],"next":%q}`, join(all[at:end]), next)
}

func join(items []string) string {
	var b bytes.Buffer
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item)
	}
	return b.String()
}

// TestNothingIsLost lets lists change between runs and within them, and cuts runs off at any line. One quiet run later
// what is stored is what the provider has.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			s := &lampServer{r: rand.New(rand.NewPCG(seed, 7)), now: time.Now(), items: map[string]map[string]string{}}
			for _, list := range []string{"rooms", "lamps", "nights", "log"} {
				s.items[list] = map[string]string{}
			}
			c, err := rest.New([]byte(lampManifest), withStart(lampSource, s.now))
			if err != nil {
				t.Fatal(err)
			}
			runner := inprocess.NewMemoryRunner(t, c, nil)
			runner.Transport = s
			for run := range 6 {
				for range s.r.IntN(12) {
					s.happen()
				}
				s.quiet, runner.KillAt = run%3 == 2, 0
				if !s.quiet && s.r.IntN(2) == 0 {
					runner.KillAt = 1 + s.r.IntN(25)
				}
				if s.quiet {
					runner.Run()
				} else {
					runner.Try()
				}
				if !s.quiet {
					continue
				}
				for list, want := range s.items {
					if !maps.EqualFunc(runner.Records[list], want, sameMembers) {
						t.Fatalf("seed %d, run %d, %s:\nstored %v\nthere  %v", seed, run, list, runner.Records[list], want)
					}
				}
			}
		})
	}
}

// withStart returns the source with windows that begin some weeks ago.
func withStart(src rest.Source, now time.Time) rest.Source {
	src.Streams = slices.Clone(src.Streams)
	windows := src.Streams[2].Sync.(rest.DateWindows)
	windows.Since = now.AddDate(0, 0, -30).Format(time.DateOnly)
	src.Streams[2].Sync = windows
	return src
}

// sameMembers reports whether a stored record has the members of an item, in any order.
func sameMembers(stored, there string) bool {
	members := func(text string) []string {
		parts := bytes.Split(bytes.Trim([]byte(text), "{}"), []byte(","))
		out := make([]string, len(parts))
		for i, p := range parts {
			out[i] = string(p)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(members(stored), members(there))
}
