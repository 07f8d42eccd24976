package changelists

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
)

// member is a thing at the server.
type member struct {
	version, changed int
	part             string
	void, gone       bool
}

// server has lists that report changes since a token.
type server struct {
	r        *rand.Rand
	lists    map[string][]string // ids in the order in which they were made
	members  map[string]*member  // by list and id
	dropped  map[string]bool
	now      int
	epoch    int
	reported bool // whether the parts of a deleted whole are reported one by one
}

func key(list, id string) string { return list + "/" + id }

// there reports whether a list of everything has it.
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
			if p := *s.members[key(list, part)]; p.part == id && s.reported {
				p.void = true
				s.put(list, part, p)
			} else if p.part == id {
				p.gone = true
				s.members[key(list, part)] = &p // without a report
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

func (s *server) page(a ChangeRequest) (ChangePage, error) {
	if s.dropped[a.List] {
		return ChangePage{}, &connectorkit.Error{Class: connectorkit.NotFound, Status: http.StatusNotFound}
	}
	at := token{s.epoch, -1, s.now, 0}
	for _, text := range []string{a.Since, a.Page} {
		if text == "" {
			continue
		}
		var t token
		if _, err := fmt.Sscanf(text, "%d.%d.%d.%d", &t.epoch, &t.since, &t.upto, &t.after); err != nil ||
			t.epoch != s.epoch {
			return ChangePage{}, &connectorkit.Error{Class: connectorkit.CursorRejected, Status: http.StatusGone}
		}
		if at.since = t.upto; text == a.Page {
			at = t
		}
	}
	var out ChangePage
	ids := s.lists[a.List]
	for ; at.after < len(ids) && len(out.Things) < 3; at.after++ {
		id := ids[at.after]
		m := s.members[key(a.List, id)]
		if m.changed <= at.since || at.since < 0 && !s.there(a.List, id) {
			continue
		}
		out.Things = append(out.Things,
			ChangeItem{ID: id, Deleted: m.gone, Part: m.part, Void: m.void, Record: connectorkit.Upsert(map[string]any{})})
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
		s := &server{r: rand.New(rand.NewPCG(seed, 1)), lists: map[string][]string{}, members: map[string]*member{},
			dropped: map[string]bool{}, reported: seed%2 == 0}
		kept, mark := map[string]int{}, connectorkit.Cursor(nil)
		for run := range 12 {
			quietly := run%4 == 3
			var pending []func()
			l := ChangeLists{
				Names: func(context.Context) ([]string, string, error) {
					var names []string
					for _, list := range []string{"list0", "list1", "list2"} {
						if !s.dropped[list] {
							names = append(names, list)
						}
					}
					return names, "me", nil
				},
				Page: func(_ context.Context, a ChangeRequest) (ChangePage, error) {
					if !quietly && s.r.IntN(2) == 0 {
						s.happen()
					}
					if !quietly && s.r.IntN(8) == 0 {
						return ChangePage{}, errors.New("cut off")
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
			flat := l.PagedStream("things")
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

// Most of a large list missing at once is not believed, and reported; half of it is.
func TestHalfIsBelieved(t *testing.T) {
	t.Parallel()
	for gone, believed := range map[int]bool{20: true, 25: true, 26: false} {
		m := readMemory("{}")
		for i := range 50 {
			m.storeItem(ChangeItem{ID: fmt.Sprint("id", i)})
		}
		m.endWalk("first")
		m.Since = ""
		m.beginWalk()
		for i := range 50 - gone {
			m.storeItem(ChangeItem{ID: fmt.Sprint("id", i)})
		}
		missing, ok := m.endWalk("second")
		if ok != believed || believed != (len(missing) == gone) {
			t.Errorf("%d of 50 gone: %d deleted, %v", gone, len(missing), ok)
		}
	}
}

// What could not be read may be one of those that are missed: nothing is deleted, and everything is read again.
func TestHolesDeleteNothing(t *testing.T) {
	t.Parallel()
	m := readMemory("{}")
	m.beginWalk()
	m.storeItem(ChangeItem{ID: "a"})
	m.endWalk("first")
	m.Since = ""
	m.beginWalk()
	m.storeItem(ChangeItem{})
	if gone, _ := m.endWalk("second"); len(gone) > 0 || m.Since != "" {
		t.Errorf("deleted %v and goes on from %q", gone, m.Since)
	}
}

// An occurrence with its own invitation outlives its series, when the walk that ends the series brings it.
func TestPartOutlivesItsWhole(t *testing.T) {
	t.Parallel()
	m := readMemory("{}")
	m.beginWalk()
	for _, x := range []ChangeItem{{ID: "a"}, {ID: "a_1", Part: "a"}, {ID: "a_2", Part: "a"},
		{ID: "a_3", Part: "a", Void: true}} {
		m.storeItem(x)
	}
	if gone, _ := m.endWalk("first"); len(gone) > 0 {
		t.Fatalf("deleted %v", gone)
	}
	m = readMemory(m.encodeMemory())
	m.beginWalk()
	m.storeItem(ChangeItem{ID: "a_1", Part: "a"})
	m.storeItem(ChangeItem{ID: "a", Deleted: true})
	if gone, _ := m.endWalk("second"); !slices.Equal(gone, []string{"a_2", "a_3"}) {
		t.Errorf("deleted %v", gone)
	}
}

// FuzzMemory shows that whatever bookmark is read is written as it is read again.
func FuzzMemory(f *testing.F) {
	f.Add(`{"since":"x","known":"0a\n1b c\n3b_2026 ^\n"}`)
	f.Add(`{"known":"0\n"}`)
	f.Add(`{"known":"0_ ^\n0^ ^ ^\n"}`)
	f.Fuzz(func(t *testing.T, text string) {
		m := readMemory(text)
		again := readMemory(m.encodeMemory())
		if !reflect.DeepEqual(m.things, again.things) || m.Since != again.Since || m.Page != again.Page {
			t.Errorf("%+v became %+v", m, again)
		}
	})
}

// TestForbiddenList checks that a list which may not be read is asked for once, and that the others are read.
func TestForbiddenList(t *testing.T) {
	t.Parallel()
	var asked []string
	l := ChangeLists{
		Names: func(context.Context) ([]string, string, error) { return []string{"a", "b"}, "me", nil },
		Page: func(_ context.Context, a ChangeRequest) (ChangePage, error) {
			asked = append(asked, a.List)
			if a.List == "a" {
				return ChangePage{}, &connectorkit.Error{Class: connectorkit.Forbidden, Status: http.StatusForbidden}
			}
			return ChangePage{Things: []ChangeItem{{ID: "1", Record: connectorkit.Upsert(map[string]any{})}}, Since: "s"}, nil
		},
		Key: key,
	}
	flat, mark, records := l.PagedStream("things"), connectorkit.Cursor(nil), 0
	for len(asked) < 9 {
		page, err := flat.Page(t.Context(), mark)
		if err != nil {
			t.Fatal(err)
		}
		if mark, records = page.Next, records+len(page.Records); !page.More {
			break
		}
	}
	if fmt.Sprint(asked) != "[a b]" || records != 2 {
		t.Errorf("asked for %v, %d records", asked, records)
	}
}
