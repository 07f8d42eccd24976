package notion

import (
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
)

// links are pages and databases that other pages name as their children. What no list shows is read by its id from
// then on. It is safe for concurrent use: pages are read several at once.
type links struct {
	mu sync.Mutex
	// Pages are children that no list has shown yet: false until a whole list was read without them.
	Pages     map[string]bool `json:"p,omitzero"`
	Databases map[string]bool `json:"d,omitzero"`
	seen      map[string]bool // what the lists of this run have shown
}

// mostLinks bounds what the bookmark remembers.
const mostLinks = 2000

func linksOf(text string) *links {
	l := &links{}
	if json.Unmarshal([]byte(text), l) != nil {
		l = &links{}
	}
	if l.Pages == nil {
		l.Pages = map[string]bool{}
	}
	if l.Databases == nil {
		l.Databases = map[string]bool{}
	}
	l.seen = map[string]bool{}
	return l
}

func (l *links) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := json.Marshal(l, json.Deterministic(true))
	if err != nil {
		return "" // a map of texts has no such error
	}
	return string(text)
}

// found notes a child of a page.
func (l *links) found(kind, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case id == "" || l.seen[id]:
	case kind == "child_page" && len(l.Pages) < mostLinks:
		l.Pages[id] = l.Pages[id] || false
	case kind == "child_database" && len(l.Databases) < mostLinks:
		l.Databases[id] = true
	}
}

// listed notes that a list has shown a page, or that it is not there.
func (l *links) listed(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[id] = true
	delete(l.Pages, id)
}

// pages returns the pages that are to be read by their ids: all with a whole list, else those that no whole list had.
func (l *links) pages(all bool) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.Pages)), func(id string) bool { return !all && !l.Pages[id] })
}

// settle notes that a whole list was read.
func (l *links) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.Pages {
		l.Pages[id] = true
	}
}

// databases returns the databases that pages hold.
func (l *links) databases() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.Databases))
}

// forget drops a database that is not there any more.
func (l *links) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.Databases, id)
}
