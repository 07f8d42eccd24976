package notion

import (
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
)

// childLinks are pages and databases that other pages name as their children. What no list shows is read by its id from
// then on. It is safe for concurrent use: pages are read several at once.
type childLinks struct {
	mu sync.Mutex
	// Pages are children that no list has shown yet: false until a whole list was read without them.
	Pages     map[string]bool `json:"p,omitzero"`
	Databases map[string]bool `json:"d,omitzero"`
	seen      map[string]bool // what the lists of this run have shown
}

// maxRememberedLinks bounds what the bookmark remembers.
const maxRememberedLinks = 2000

func parseChildLinks(text string) *childLinks {
	l := &childLinks{}
	if json.Unmarshal([]byte(text), l) != nil {
		l = &childLinks{}
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

func (l *childLinks) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := json.Marshal(l, json.Deterministic(true))
	if err != nil {
		return "" // a map of texts has no such error
	}
	return string(text)
}

// addChild notes a child of a page.
func (l *childLinks) addChild(kind, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case id == "" || l.seen[id]:
	case kind == "child_page" && len(l.Pages) < maxRememberedLinks:
		l.Pages[id] = l.Pages[id] || false
	case kind == "child_database" && len(l.Databases) < maxRememberedLinks:
		l.Databases[id] = true
	}
}

// markListed notes that a list contained a page, or that the page does not exist.
func (l *childLinks) markListed(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[id] = true
	delete(l.Pages, id)
}

// pagesToRead returns the pages that are to be read by their ids: all with a whole list, else those that no whole
// list had.
func (l *childLinks) pagesToRead(all bool) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.Pages)), func(id string) bool { return !all && !l.Pages[id] })
}

// markFullListRead notes that a whole list was read.
func (l *childLinks) markFullListRead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.Pages {
		l.Pages[id] = true
	}
}

// childDatabases returns the databases that pages hold.
func (l *childLinks) childDatabases() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.Databases))
}

// dropDatabase removes a database that no longer exists.
func (l *childLinks) dropDatabase(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.Databases, id)
}
