package googleapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// member is a thing at the server.
type member struct {
	version, changed int
	part             string
	void, gone       bool
}

// server has lists that tell changes since a token.
type server struct {
	r       *rand.Rand
	lists   map[string][]string // ids in the order in which they were made
	members map[string]*member  // by list and id
	dropped map[string]bool
	now     int
	epoch   int
	told    bool // whether the parts of a deleted whole are told one by one
}

func key(list, id string) string { return list + "/" + id }

// there tells whether a list of everything has it.
func (s *server) there(list, id string) bool {
	m := s.members[key(list, id)]
	if m.gone || s.dropped[list] {
		return false
	}
	whole := s.members[key(list, m.part)]
	return m.part == "" || whole != nil && !whole.gone || !m.void && whole == nil
}

func (s *server) put(list, id string, m member) {
	s.now++
	m.changed, m.version = s.now, s.now
	if s.members[key(list, id)] == nil {
		s.lists[list] = append(s.lists[list], id)
	}
	s.members[key(list, id)] = &m
}

// happen changes something.
func (s *server) happen() {
	list := fmt.Sprint("list", s.r.IntN(3))
	ids := s.lists[list]
	switch n := s.r.IntN(12); {
	case n < 4 || len(ids) == 0:
		s.put(list, fmt.Sprintf("id%d", s.now), member{})
	case n < 6: // an occurrence is changed or taken out; sometimes that of a series which is not shown
		whole := ids[s.r.IntN(len(ids))]
		if n == 5 {
			whole = "elsewhere"
		}
		if m := s.members[key(list, whole)]; m == nil || !m.gone && m.part == "" {
			s.put(list, fmt.Sprintf("%s_%d", whole, s.now), member{part: whole, void: m != nil && s.r.IntN(2) == 0})
		}
	case n < 8:
		id := ids[s.r.IntN(len(ids))]
		if m := *s.members[key(list, id)]; s.there(list, id) {
			s.put(list, id, m)
		}
	case n < 10:
		id := ids[s.r.IntN(len(ids))]
		m := *s.members[key(list, id)]
		if !s.there(list, id) || m.void || m.part != "" && m.part != "elsewhere" {
			return
		}
		m.gone = true
		s.put(list, id, m)
		for _, part := range ids {
			if p := *s.members[key(list, part)]; p.part == id && s.told {
				p.void = true
				s.put(list, part, p)
			} else if p.part == id {
				p.gone = true
				s.members[key(list, part)] = &p // nothing tells
			}
		}
	case n == 10:
		s.epoch++
	default:
		s.dropped[list] = !s.dropped[list]
	}
}

type token struct{ epoch, since, upto, after int }

func (t token) String() string { return fmt.Sprintf("%d.%d.%d.%d", t.epoch, t.since, t.upto, t.after) }

func (s *server) page(a Ask) (Answer, error) {
	if s.dropped[a.List] {
		return Answer{}, &connectorkit.Error{Class: connectorkit.NotFound, Status: http.StatusNotFound}
	}
	at := token{s.epoch, -1, s.now, 0}
	for _, text := range []string{a.Since, a.Page} {
		if text == "" {
			continue
		}
		var t token
		if _, err := fmt.Sscanf(text, "%d.%d.%d.%d", &t.epoch, &t.since, &t.upto, &t.after); err != nil || t.epoch != s.epoch {
			return Answer{}, &connectorkit.Error{Class: connectorkit.CursorRejected, Status: http.StatusGone}
		}
		if at.since = t.upto; text == a.Page {
			at = t
		}
	}
	var out Answer
	ids := s.lists[a.List]
	for ; at.after < len(ids) && len(out.Things) < 3; at.after++ {
		id := ids[at.after]
		m := s.members[key(a.List, id)]
		if m.changed <= at.since || at.since < 0 && !s.there(a.List, id) {
			continue
		}
		out.Things = append(out.Things, Thing{ID: id, Deleted: m.gone, Part: m.part, Void: m.void, Record: connectorkit.Upsert(map[string]any{})})
	}
	if at.after < len(ids) {
		out.Next = at.String()
	} else {
		out.Since = token{s.epoch, 0, at.upto, 0}.String()
	}
	return out, nil
}

// TestNothingIsLostOrInvented lets random lists change while they are read by runs that are cut off at any page. One
// quiet run later what was kept is what there is.
func TestNothingIsLostOrInvented(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		s := &server{r: rand.New(rand.NewPCG(seed, 1)), lists: map[string][]string{}, members: map[string]*member{}, dropped: map[string]bool{}, told: seed%2 == 0}
		kept, mark := map[string]int{}, connectorkit.Cursor(nil)
		for run := range 12 {
			quietly := run%4 == 3
			var pending []func()
			l := Lists{
				Names: func(context.Context) ([]string, string, error) {
					var names []string
					for _, list := range []string{"list0", "list1", "list2"} {
						if !s.dropped[list] {
							names = append(names, list)
						}
					}
					return names, "me", nil
				},
				Page: func(_ context.Context, a Ask) (Answer, error) {
					if !quietly && s.r.IntN(2) == 0 {
						s.happen()
					}
					if !quietly && s.r.IntN(8) == 0 {
						return Answer{}, errors.New("cut off")
					}
					got, err := s.page(a)
					for _, x := range got.Things {
						if version := s.members[key(a.List, x.ID)].version; !x.Deleted {
							pending = append(pending, func() { kept[key(a.List, x.ID)] = version })
						}
					}
					return got, err
				},
				Gone: func(_ context.Context, name string) (bool, error) { return s.dropped[name], nil },
				Key: func(list, id string) string { // asked for what is deleted, and for nothing else
					pending = append(pending, func() { delete(kept, key(list, id)) })
					return key(list, id)
				},
			}
			for range s.r.IntN(4) {
				s.happen()
			}
			flat := l.Flat("things")
			for {
				page, err := flat.Page(t.Context(), mark)
				if err != nil {
					if quietly {
						t.Fatalf("seed %d, run %d: %v", seed, run, err)
					}
					break
				}
				for _, do := range pending {
					do()
				}
				if pending, mark = nil, page.Next; !page.More {
					break
				}
			}
			if !quietly {
				continue
			}
			want := map[string]int{}
			for list, ids := range s.lists {
				for _, id := range ids {
					if s.there(list, id) {
						want[key(list, id)] = s.members[key(list, id)].version
					}
				}
			}
			if !maps.Equal(kept, want) {
				t.Fatalf("seed %d, run %d: kept %v\nthere are %v", seed, run, kept, want)
			}
		}
	}
}

// Most of a large list missing at once is not believed, and told; half of it is.
func TestHalfIsBelieved(t *testing.T) {
	t.Parallel()
	for gone, believed := range map[int]bool{20: true, 25: true, 26: false} {
		m := memoryOf("{}")
		for i := range 50 {
			m.take(Thing{ID: fmt.Sprint("id", i)})
		}
		m.end("first")
		m.Since = ""
		m.begin()
		for i := range 50 - gone {
			m.take(Thing{ID: fmt.Sprint("id", i)})
		}
		missing, ok := m.end("second")
		if ok != believed || believed != (len(missing) == gone) {
			t.Errorf("%d of 50 gone: %d deleted, %v", gone, len(missing), ok)
		}
	}
}

// What could not be read may be one of those that are missed: nothing is deleted, and everything is read again.
func TestHolesDeleteNothing(t *testing.T) {
	t.Parallel()
	m := memoryOf("{}")
	m.begin()
	m.take(Thing{ID: "a"})
	m.end("first")
	m.Since = ""
	m.begin()
	m.take(Thing{})
	if gone, _ := m.end("second"); len(gone) > 0 || m.Since != "" {
		t.Errorf("deleted %v and goes on from %q", gone, m.Since)
	}
}

// An occurrence to which somebody is invited alone outlives its series, when the walk that ends the series brings it.
func TestPartOutlivesItsWhole(t *testing.T) {
	t.Parallel()
	m := memoryOf("{}")
	m.begin()
	for _, x := range []Thing{{ID: "a"}, {ID: "a_1", Part: "a"}, {ID: "a_2", Part: "a"}, {ID: "a_3", Part: "a", Void: true}} {
		m.take(x)
	}
	if gone, _ := m.end("first"); len(gone) > 0 {
		t.Fatalf("deleted %v", gone)
	}
	m = memoryOf(m.encode())
	m.begin()
	m.take(Thing{ID: "a_1", Part: "a"})
	m.take(Thing{ID: "a", Deleted: true})
	if gone, _ := m.end("second"); !slices.Equal(gone, []string{"a_2", "a_3"}) {
		t.Errorf("deleted %v", gone)
	}
}

// FuzzMemory shows that whatever bookmark is read is written as it is read again.
func FuzzMemory(f *testing.F) {
	f.Add(`{"since":"x","known":"0a\n1b c\n3b_2026 ^\n"}`)
	f.Add(`{"known":"0\n"}`)
	f.Add(`{"known":"0_ ^\n0^ ^ ^\n"}`)
	f.Fuzz(func(t *testing.T, text string) {
		m := memoryOf(text)
		again := memoryOf(m.encode())
		if !reflect.DeepEqual(m.things, again.things) || m.Since != again.Since || m.Page != again.Page {
			t.Errorf("%+v became %+v", m, again)
		}
	})
}

// What Google says is understood in both of the forms that its APIs have.
func TestClassify(t *testing.T) {
	t.Parallel()
	old := func(reason string) string { return `{"error":{"code":403,"errors":[{"reason":"` + reason + `"}]}}` }
	young := func(reason string) string { return `{"error":{"code":403,"details":[{"reason":"` + reason + `"}]}}` }
	for _, c := range []struct {
		status int
		body   string
		want   connectorkit.Class
		words  bool
	}{
		{200, `{"items":[]}`, "", false}, {200, `<html>`, connectorkit.Malformed, false}, {200, `{"items":[`, connectorkit.Unavailable, false},
		{403, old("rateLimitExceeded"), connectorkit.RateLimited, false}, {403, old("userRateLimitExceeded"), connectorkit.RateLimited, false},
		{403, old("quotaExceeded"), connectorkit.RateLimited, false}, {403, young("RATE_LIMIT_EXCEEDED"), connectorkit.RateLimited, false},
		{429, young(""), connectorkit.RateLimited, false}, {403, old("forbidden"), connectorkit.Forbidden, false}, {403, `no JSON`, connectorkit.Forbidden, false},
		{403, old("accessNotConfigured"), connectorkit.Forbidden, true}, {403, young("SERVICE_DISABLED"), connectorkit.Forbidden, true},
		{403, old("insufficientPermissions"), connectorkit.Forbidden, true}, {403, young("ACCESS_TOKEN_SCOPE_INSUFFICIENT"), connectorkit.Forbidden, true},
		{410, old("fullSyncRequired"), connectorkit.CursorRejected, false}, {400, young("EXPIRED_SYNC_TOKEN"), connectorkit.CursorRejected, false},
		{400, old("invalid"), connectorkit.Malformed, false}, {401, old("authError"), connectorkit.Unauthorized, false}, {404, old("notFound"), connectorkit.NotFound, false},
		{500, old("backendError"), connectorkit.Unavailable, false},
	} {
		var e *connectorkit.Error
		var got connectorkit.Class
		if errors.As(Classify("Lamp API")(&governhttp.Response{Status: c.status, Body: []byte(c.body)}), &e) {
			got = e.Class
		}
		if got != c.want || c.words != (e != nil && e.OwnerMessage != "") {
			t.Errorf("%d %s is %q, want %q", c.status, c.body, got, c.want)
		}
	}
}
