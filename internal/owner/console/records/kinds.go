package records

import (
	"slices"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// ThingKind is a kind of thing, as people name it: with its page, its colour and its words.
type ThingKind struct {
	Name      string // of its page in the menu
	Label     string
	Class     string
	Icon      string
	One, Many string // what a thing is called
	Address   string
	Open      string // the words of a link to Address
}

// Kinds are in the order in which pages show them.
var Kinds = []ThingKind{
	{"conversations", "Conversations", "k-talk", "talk", "message", "messages", "/conversations", "Open conversations"},
	{"photos", "Photos", "k-photo", "photo", "photo or file", "photos and files", "/photos", "Open photos"},
	{"mail", "Mail", "k-mail", "mail", "mail", "mails", "/mail", "Open mail"},
	{"health", "Health", "k-body", "body", "measurement", "measurements", "/health", "Open health"},
	{"places", "Places", "k-place", "place", "place", "places", "/places", "See the places"},
	{"money", "Money", "k-money", "money", "booking", "bookings", "/money", "Open money"},
	{"notes", "Notes", "k-note", "note", "note", "notes", "/notes", "Open notes"},
	{"code", "Code", "k-code", "code", "change", "changes", "/code", "Open code"},
	{"plans", "Plans", "k-plan", "plan", "event", "events", "/timeline", "Open the timeline"},
}

// KindOf returns the kind of the things of a stream. A step of an assistant is part of its conversation and has none.
func KindOf(s *api.Stream) (ThingKind, bool) {
	name := ""
	role := func(name string) bool { return s.Display.Roles[name] != "" }
	switch s.Display.Kind {
	case "message", "conversation":
		if name = "conversations"; s.Display.Kind == "message" && role("title") && !role("speaker") {
			name = "mail"
		}
	case "file":
		name = "photos"
	case "place":
		name = "places"
	case "measurement":
		name = "health"
	case "transaction":
		name = "money"
	case "document":
		if name = "notes"; role("project") {
			name = "code"
		}
	case "event":
		if !role("thread") {
			name = "plans"
		}
	}
	i := slices.IndexFunc(Kinds, func(k ThingKind) bool { return k.Name == name })
	if i < 0 {
		return ThingKind{}, false
	}
	return Kinds[i], true
}

// HeldKinds returns the pages of the menu that have something to show of the streams.
func HeldKinds(all []api.Stream) (out []string) {
	for i := range all {
		k, is := KindOf(&all[i])
		if is && k.Name != "plans" && all[i].Records > 0 && !slices.Contains(out, k.Name) {
			out = append(out, k.Name)
		}
	}
	return out
}

// MainKinds returns the class of the kind that each connection holds most of, by the connection's id.
func MainKinds(all []api.Stream) map[string]string {
	most, out := map[string]int64{}, map[string]string{}
	for i := range all {
		s := &all[i]
		if k, is := KindOf(s); is && s.Records > most[s.ConnectionID] {
			most[s.ConnectionID], out[s.ConnectionID] = s.Records, k.Class
		}
	}
	return out
}
