package records

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const (
	// searchedFirst is how many of the newest matches are read of everything.
	searchedFirst = 100
	// searchedStreams bounds how many streams are searched one by one, for kinds that the newest matches leave out.
	searchedStreams = 12
	// hitsOfAKind is how many results of a kind are shown beside other kinds, and hitsOfOneKind of a single kind.
	hitsOfAKind   = 4
	hitsOfOneKind = 50
	// searchPatience bounds the search of single streams. What takes longer is named on the page.
	searchPatience = 2 * time.Second
)

// foundPage is what a search of all streams found, by kind.
type foundPage struct {
	Kinds   []foundKind
	Shown   int
	Facets  []foundFacet
	Sources []foundFacet
	Ways    []foundFacet // to search; none while there is only one
	Late    string       // streams that could not be searched in time
	Honest  string       // what may be missing, and what is complete
}

// foundKind is the results of a kind, those of the newest things first.
type foundKind struct {
	ThingKind
	Hits []hit
	More string // the address of all of them; empty if these are all
}

// foundFacet narrows a search.
type foundFacet struct {
	Label, Address, Class, Icon string
	Current                     bool
}

// hit is one result.
type hit struct {
	Title, Snippet []snippetPart
	When           string
	At             time.Time
	From           string
	Address        string
	Small          string // of a picture
	Gone           bool
	Key            string
}

// snippetPart is a part of a text, and whether it matches.
type snippetPart struct {
	Text string
	Mark bool
}

// searchAll finds things of all streams, or of those that the choice narrows to.
func (p *pages) searchAll(r *http.Request, page *recordsPage) error {
	found, late, err := p.matches(r.Context(), page)
	if err != nil {
		return err
	}
	out := &foundPage{}
	if semantic, err := p.Owner.SemanticSearch(r.Context()); err != nil {
		return err
	} else if semantic.On {
		out.Ways = page.ways()
	}
	sought := soughtWords(page.Text)
	groups := map[string][]hit{}
	sources := map[string]string{}
	for _, record := range found {
		s := findStream(page.Streams, record.ConnectionID, record.Stream)
		if s == nil {
			continue
		}
		k, is := KindOf(s)
		if !is {
			k = ThingKind{Name: "other"}
		}
		if page.By != "" && page.Kind != "" && page.Kind != k.Name {
			continue
		}
		sources[s.ConnectionID] = s.ConnectionName
		groups[k.Name] = append(groups[k.Name], newHit(record, s, sought, p.Now()))
	}
	for _, k := range slices.Concat(Kinds, []ThingKind{{Name: "other", Label: "Other things", Icon: "more"}}) {
		hits := groups[k.Name]
		if len(hits) == 0 {
			continue
		}
		if page.By == "" { // by meaning, the best comes first
			slices.SortStableFunc(hits, func(a, b hit) int { return b.At.Compare(a.At) })
		}
		one := foundKind{ThingKind: k}
		most := hitsOfAKind
		if page.Kind != "" {
			most = hitsOfOneKind
		} else if len(hits) > most {
			one.More = page.ofKind(k.Name).list()
		}
		one.Hits = hits[:min(len(hits), most)]
		out.Shown += len(one.Hits)
		out.Kinds = append(out.Kinds, one)
	}
	out.narrow(page, sources)
	if len(late) > 0 {
		out.Late = "Not searched in time: " + text.List(late) + ". Search one kind to see more."
	}
	kept, err := p.Owner.Kept(r.Context())
	if err != nil {
		return err
	}
	out.Honest = words.SearchHonesty(len(found) > 0, kept.Sources, page.Connection)
	page.Found = out
	return nil
}

// matches reads the newest matches. If they leave kinds out, it also searches streams one by one.
func (p *pages) matches(ctx context.Context, page *recordsPage) (all []api.Record, late []string, err error) {
	seen := map[string]int{}
	whole := false
	if page.By == byBoth {
		found, err := p.Owner.Search(ctx, api.SearchQuery{Text: page.Text, ConnectionID: page.Connection, By: byBoth,
			Limit: hitsOfOneKind})
		return found.Records, nil, err
	}
	if page.Kind == "" {
		first, err := p.Owner.Search(ctx, api.SearchQuery{Text: page.Text, ConnectionID: page.Connection,
			Cursor: page.Cursor, Limit: searchedFirst})
		if err != nil {
			return nil, nil, err
		}
		all, whole = first.Records, first.Next == ""
		for _, r := range all {
			seen[r.ConnectionID+"/"+r.Stream]++
		}
	}
	if whole {
		return all, nil, nil
	}
	var single []*api.Stream
	for i := range page.Streams {
		s := &page.Streams[i]
		k, _ := KindOf(s)
		if s.Records == 0 || len(s.Search) == 0 || seen[s.ConnectionID+"/"+s.Name] > 0 ||
			page.Kind != "" && page.Kind != k.Name || page.Connection != "" && page.Connection != s.ConnectionID {
			continue
		}
		single = append(single, s)
	}
	slices.SortStableFunc(single, func(a, b *api.Stream) int { return int(min(1, max(-1, b.Records-a.Records))) })
	single = single[:min(len(single), searchedStreams)]
	limit := hitsOfAKind + 1
	if page.Kind != "" {
		limit = hitsOfOneKind
	}
	bounded, end := context.WithTimeout(ctx, searchPatience)
	defer end()
	var mu sync.Mutex
	searching := errgroup.Group{}
	searching.SetLimit(3)
	for _, s := range single {
		searching.Go(func() error {
			found, err := p.Owner.Search(bounded, api.SearchQuery{Text: page.Text, ConnectionID: s.ConnectionID,
				Stream: s.Name, Limit: limit})
			mu.Lock()
			defer mu.Unlock()
			if err != nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
				late = append(late, s.Label+" of "+s.ConnectionName)
				return nil
			}
			all = append(all, found.Records...)
			return err
		})
	}
	return all, late, searching.Wait()
}

// narrow lists the kinds and the sources of the results.
func (f *foundPage) narrow(page *recordsPage, sources map[string]string) {
	every := page.ofKind("")
	if len(f.Kinds) > 1 || page.Kind != "" {
		f.Facets = append(f.Facets, foundFacet{Label: "All kinds", Address: every.list(), Icon: "search",
			Current: page.Kind == ""})
		for _, k := range f.Kinds {
			if k.Name != "other" {
				f.Facets = append(f.Facets, foundFacet{Label: k.Label, Address: page.ofKind(k.Name).list(), Class: k.Class,
					Icon: k.Icon, Current: page.Kind == k.Name})
			}
		}
	}
	if len(sources) < 2 && page.Connection == "" {
		return
	}
	from := page.choice
	from.Cursor, from.Connection = "", ""
	f.Sources = append(f.Sources, foundFacet{Label: "All sources", Address: from.list(), Current: page.Connection == ""})
	for id, name := range sources {
		from.Connection = id
		f.Sources = append(f.Sources, foundFacet{Label: name, Address: from.list(), Current: page.Connection == id})
	}
	slices.SortFunc(f.Sources[1:], func(a, b foundFacet) int {
		return strings.Compare(a.Label+a.Address, b.Label+b.Address)
	})
}

// ofKind is the same search of one kind; "" means of all.
func (c choice) ofKind(name string) choice {
	c.Kind, c.Cursor = name, ""
	return c
}

// byBoth searches by words and by meaning.
const byBoth = "both"

// order names which results come first.
func (c choice) order() string {
	if c.By == byBoth {
		return "the best"
	}
	return "the newest"
}

// ways returns the two ways to search.
func (c choice) ways() (ways []foundFacet) {
	for by, label := range map[string]string{"": "By words", byBoth: "By meaning too"} {
		other := c
		other.By, other.Cursor, other.Kind = by, "", ""
		ways = append(ways, foundFacet{Label: label, Address: other.list(), Current: c.By == by})
	}
	slices.SortFunc(ways, func(a, b foundFacet) int { return strings.Compare(b.Label, a.Label) })
	return ways
}

// newHit describes a record that was found: what it is called, where the words are, and when it happened.
func newHit(r api.Record, s *api.Stream, sought [][]rune, now time.Time) hit {
	title, _ := Summarize(r, s, nil)
	h := hit{Title: mark(text.Cut(text.Line(title), ui.LongestTitle), sought), From: s.ConnectionName,
		Gone: r.Deleted, Key: r.Key,
		Address: "/thing/" + ui.Segment(r.ConnectionID) + "/" + ui.Segment(r.Stream) + "/" + ui.Segment(r.Key)}
	var values map[string]json.RawMessage
	_ = json.Unmarshal(r.Data, &values) // what is no object has no fields
	role := func(name string) string { return plainText(values[s.Display.Roles[name]]) }
	if at, known := api.ParseMoment(role("time")); known {
		h.At, h.When = at, ui.Moment(at, now)
		if s.Display.Days {
			h.When = at.Format("2 January 2006")
		}
	}
	fields := append([]string{s.Display.Roles["text"], s.Display.Roles["title"]}, s.Search...)
	for _, field := range fields {
		if line := text.Line(plainText(values[field])); line != "" && line != title {
			if around := snippet(line, sought); around != nil {
				h.Snippet = around
				break
			}
		}
	}
	var file struct {
		SHA256 string `json:"sha256"`
		MIME   string `json:"mime_type"`
	}
	_ = json.Unmarshal(values[s.Display.Roles["blob"]], &file) // what is none is none
	if file.SHA256 != "" && ui.IsPicture(file.MIME) {
		h.Small = h.Address + "/files/" + ui.Segment(file.SHA256) + ui.ThumbnailPart
		if len(h.Snippet) > 0 { // what a picture shows names it better than the name of its file
			h.Title, h.Snippet = h.Snippet, nil
		}
	}
	return h
}

// plainText returns the text of a JSON value; "" for one that is no text or list of texts.
func plainText(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var list []string
	_ = json.Unmarshal(raw, &list)
	return strings.Join(list, ", ")
}

// soughtWords splits a search into words, in lower case.
func soughtWords(search string) (out [][]rune) {
	for _, word := range strings.FieldsFunc(strings.ToLower(search), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		out = append(out, []rune(word))
	}
	return out
}

const (
	// beforeMatch and afterMatch are how many characters of a text are shown around the first match.
	beforeMatch = 60
	afterMatch  = 140
)

// snippet returns the text around the first match, with its matches marked; nil if there is none.
func snippet(line string, sought [][]rune) []snippetPart {
	letters := []rune(line)
	first := -1
	for i := range letters {
		if matchAt(letters, i, sought) > 0 {
			first = i
			break
		}
	}
	if first < 0 {
		return nil
	}
	from, to := max(0, first-beforeMatch), min(len(letters), first+afterMatch)
	for from > 0 && from < first && letters[from-1] != ' ' {
		from++ // begins with a whole word
	}
	cut := string(letters[from:to])
	if from > 0 {
		cut = "… " + cut
	}
	if to < len(letters) {
		cut += " …"
	}
	return mark(cut, sought)
}

// matchAt returns how long a match is that begins at a character; zero if none does. A match begins a word.
func matchAt(letters []rune, i int, sought [][]rune) int {
	if i > 0 && (unicode.IsLetter(letters[i-1]) || unicode.IsNumber(letters[i-1])) {
		return 0
	}
	for _, word := range sought {
		n := 0
		for n < len(word) && i+n < len(letters) && unicode.ToLower(letters[i+n]) == word[n] {
			n++
		}
		if n == len(word) && n > 0 {
			return n
		}
	}
	return 0
}

// mark splits a text into parts that match and parts that do not.
func mark(line string, sought [][]rune) (out []snippetPart) {
	letters := []rune(line)
	plain := 0
	for i := 0; i < len(letters); i++ {
		n := matchAt(letters, i, sought)
		if n == 0 {
			continue
		}
		if i > plain {
			out = append(out, snippetPart{Text: string(letters[plain:i])})
		}
		out = append(out, snippetPart{Text: string(letters[i : i+n]), Mark: true})
		i += n - 1
		plain = i + 1
	}
	if plain < len(letters) {
		out = append(out, snippetPart{Text: string(letters[plain:])})
	}
	return out
}
