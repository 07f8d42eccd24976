// Package goods arranges the sources that can be added: by what they bring, the least effort first.
package goods

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
)

// Shelf is a part of the catalogue.
type Shelf struct {
	ID, Title, Note string
	Goods           []*api.Connector
}

// topics are the parts of the catalogue, in order, with the connectors and the kinds of things that belong there.
// A connector that is named nowhere belongs where most of its streams do, and to the last part if none does.
var topics = []struct {
	id, title, class  string
	kinds, connectors []string
}{
	{"mail", "Mail, calendar and contacts", "k-mail", []string{"mail"},
		[]string{"imap", "mail", "caldav", "carddav", "ical", "google_calendar", "google_contacts"}},
	{"chat", "Chat and AI", "k-talk", []string{"conversations"},
		[]string{"chatgpt", "claude_code", "codex", "imessage", "matrix", "slack", "whatsapp"}},
	{"health", "Health", "k-body", []string{"health"},
		[]string{"apple_health", "fitbit", "oura", "strava", "whoop", "withings"}},
	{"money", "Money", "k-money", []string{"money"}, []string{"ynab"}},
	{"play", "Music, video and games", "k-photo", nil,
		[]string{"jellyfin", "lastfm", "netflix_export", "spotify", "steam", "trakt"}},
	{"social", "Social", "k-plan", nil,
		[]string{"bluesky", "hacker_news", "mastodon", "reddit_export", "twitter_archive"}},
	{"photos", "Photos and places", "k-place", []string{"photos", "places"}, []string{"google_takeout"}},
	{"code", "Code and work", "k-code", []string{"code"}, []string{"gitea", "github", "gitlab", "google_tasks", "linear",
		"microsoft_todo", "notion", "todoist", "toggl"}},
	{"notes", "Notes and reading", "k-note", []string{"notes"},
		[]string{"browser_history", "miniflux", "notes", "pocket", "raindrop", "readwise", "wallabag"}},
	{"more", "More", "", nil, nil},
}

// EasiestID is the id of the group that repeats the easiest sources.
const EasiestID = "easiest"

// mostEasy is how many sources the first group has, and mostEffort the effort of the hardest of them.
const (
	mostEasy   = 3
	mostEffort = 3
)

// mainKind returns the kind that most streams of a connector have; false if none has one.
func mainKind(c *api.Connector) (main records.ThingKind, is bool) {
	count := map[string]int{}
	for i := range c.Streams {
		s := &c.Streams[i]
		k, known := records.KindOf(&api.Stream{Display: api.Display{Kind: s.Kind, Roles: s.Roles}})
		if !known {
			continue
		}
		if count[k.Name]++; !is || count[k.Name] > count[main.Name] {
			main, is = k, true
		}
	}
	return main, is
}

// effort orders connectors by what the owner has to do: less first.
func effort(c *api.Connector) int {
	switch {
	case c.Problem != "" || c.Lacks != "":
		return 9
	case c.Foreign != nil && !c.Foreign.Confirmed:
		return 8
	case c.Consent != nil:
		return 5
	case c.SignsIn:
		return 4
	case c.Files != nil:
		return 1
	case c.Device || c.OnDevices:
		return 2
	case c.Form != nil:
		return 3
	default:
		return 0
	}
}

// Easiest returns sources that need no account elsewhere and at most one file, line or form: the one of each kind of
// effort that asks for least. Those that are connected already are left out.
func Easiest(all []api.Connector, connected map[string]int) (out []*api.Connector) {
	var best [mostEffort + 1]*api.Connector
	for i := range all {
		c := &all[i]
		e := effort(c)
		if e > mostEffort || connected[c.ID] > 0 || c.Foreign != nil {
			continue
		}
		if best[e] == nil || asks(c) < asks(best[e]) {
			best[e] = c
		}
	}
	for _, c := range best {
		if c != nil && len(out) < mostEasy {
			out = append(out, c)
		}
	}
	return out
}

// asks counts what the owner has to enter; a secret counts twice, because it has to be made first.
func asks(c *api.Connector) (n int) {
	if c.Form == nil || c.Device || c.OnDevices {
		return 0
	}
	for i := range c.Form.Fields {
		if f := &c.Form.Fields[i]; f.Required && f.Secret {
			n += 2
		} else if f.Required {
			n++
		}
	}
	return n
}

// Shelves returns the parts of the catalogue that have something. A catalogue that was searched does not begin with the
// easiest. Connected counts the connections by connector.
func Shelves(shown []api.Connector, connected map[string]int, searched bool) (out []Shelf) {
	if !searched {
		if easy := Easiest(shown, connected); len(easy) > 0 {
			out = append(out, Shelf{EasiestID, "Easiest first", "Nothing to sign up for", easy})
		}
	}
	byID := map[string]*Shelf{}
	var setup Shelf
	for i := range shown {
		one := &shown[i]
		if one.Lacks != "" || one.Problem != "" {
			setup.Goods = append(setup.Goods, one)
			continue
		}
		id := groupOf(one)
		if byID[id] == nil {
			byID[id] = &Shelf{}
		}
		byID[id].Goods = append(byID[id].Goods, one)
	}
	for _, g := range topics {
		if found := byID[g.id]; found != nil {
			slices.SortStableFunc(found.Goods, func(a, b *api.Connector) int { return effort(a) - effort(b) })
			out = append(out, Shelf{ID: g.id, Title: g.title, Goods: found.Goods})
		}
	}
	if len(setup.Goods) > 0 {
		setup.ID, setup.Title = "setup", "Need a step first"
		setup.Note = "A registered app or a program is missing. Open one to see how to get it"
		out = append(out, setup)
	}
	return out
}

// groupOf returns the part of the catalogue that a connector belongs to.
func groupOf(c *api.Connector) string {
	for _, g := range topics {
		if c.Foreign == nil && slices.Contains(g.connectors, c.ID) {
			return g.id
		}
	}
	if k, is := mainKind(c); is {
		for _, g := range topics {
			if slices.Contains(g.kinds, k.Name) {
				return g.id
			}
		}
	}
	return "more"
}

// Class is the class of the colour of a connector's part of the catalogue.
func Class(c *api.Connector) string {
	id := groupOf(c)
	for _, g := range topics {
		if g.id == id {
			return g.class
		}
	}
	return ""
}

// isThing reports whether a stream brings what an owner would look for, and not what a connector notes about its work.
func isThing(s *api.StreamLabel) bool {
	return s.Name != "coverage_diagnostics" && !strings.HasSuffix(s.Name, "_inventory")
}

// Things returns the labels of the streams that an owner would look for.
func Things(c *api.Connector) (labels []string) {
	for i := range c.Streams {
		if isThing(&c.Streams[i]) {
			labels = append(labels, c.Streams[i].Label)
		}
	}
	return labels
}
