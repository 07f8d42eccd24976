package ui

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// Menu is what the menu shows of the home.
type Menu struct {
	Kinds []string // names of the entries below Your things that the home holds something of
	Needs int      // sources that need the owner
}

// menuEntry is a page in the menu. Name is the first part of its address.
type menuEntry struct {
	name, label, address string
	icon                 string
	kind                 string // the class of its colour
}

// menuGroup is a part of the menu. Its name is only read out if it is not shown.
type menuGroup struct {
	Name    string
	Shown   bool
	Entries []menuEntry
}

var (
	everyDay = []menuEntry{
		{"today", "Today", "/", "today", ""},
		{"timeline", "Timeline", "/timeline", "timeline", ""},
		{"people", "People", "/people", "people", ""},
	}
	yourThings = []menuEntry{
		{"conversations", "Conversations", "/conversations", "talk", "k-talk"},
		{"mail", "Mail", "/mail", "mail", "k-mail"},
		{"photos", "Photos", "/photos", "photo", "k-photo"},
		{"places", "Places", "/places", "place", "k-place"},
		{"health", "Health", "/health", "body", "k-body"},
		{"money", "Money", "/money", "money", "k-money"},
		{"notes", "Notes", "/notes", "note", "k-note"},
		{"code", "Code", "/code", "code", "k-code"},
	}
	lookBack = []menuEntry{
		{"year", "Your year", "/year", "plan", ""},
		{"changed", "What changed", "/changed", "changed", ""},
		{"on-this-day", "On this day", "/on-this-day", "past", ""},
		{"complete", "How complete", "/complete", "complete", ""},
	}
	thisHome = []menuEntry{
		{"sources", "Sources", "/sources", "sources", ""},
		{"sharing", "Sharing", "/sharing", "sharing", ""},
		{"settings", "Settings", "/settings", "settings", ""},
	}
	phoneEntries = []menuEntry{
		everyDay[0], everyDay[1], {"search", "Search", "/search", "search", ""}, thisHome[0],
		{"more", "More", "#menu", "more", ""},
	}
)

func (m Menu) groups() []menuGroup {
	all := []menuGroup{{"Every day", false, everyDay}}
	var held []menuEntry
	for _, e := range yourThings {
		if slices.Contains(m.Kinds, e.name) {
			held = append(held, e)
		}
	}
	if len(held) > 0 {
		all = append(all, menuGroup{"Your things", true, held})
	}
	return append(all, menuGroup{"Look back", true, lookBack}, menuGroup{"This home", true, thisHome})
}

type menuKey struct{}

// WithMenu returns a context for pages with the menu that read returns. Without one, a page shows no kinds.
func WithMenu(ctx context.Context, read func(context.Context) Menu) context.Context {
	return context.WithValue(ctx, menuKey{}, read)
}

func menuOf(ctx context.Context) Menu {
	if read, is := ctx.Value(menuKey{}).(func(context.Context) Menu); is {
		return read(ctx)
	}
	return Menu{}
}

// Section returns the entry of the menu that an address belongs to.
func Section(r *http.Request) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch first {
	case "":
		return "today"
	case "day":
		return "timeline"
	default:
		return first
	}
}

// Initials returns the two letters of a name that its tile shows.
func Initials(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	letters := ""
	switch {
	case len(words) == 0:
		return "?"
	case len(words) == 1:
		letters = words[0]
	default:
		letters = string([]rune(words[0])[:1]) + string([]rune(words[1])[:1])
	}
	two := []rune(letters)
	two = two[:min(len(two), 2)]
	two[0] = unicode.ToUpper(two[0])
	return strings.ToUpper(string(two[:1])) + strings.ToLower(string(two[1:]))
}

// icons are the strokes of symbols in a square of 24.
var icons = map[string]string{
	"today":    "M4 17.5h16M7 17.5a5 5 0 0 1 10 0M12 4v4M5 8l2 2M19 8l-2 2M8 21h8",
	"timeline": "M6 3.5v17M6 7.5h7M6 12h11M6 16.5h8",
	"search":   "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5 20.5 20.5",
	"more":     "M4 7h16M4 12h16M4 17h16",
	"talk":     "M4 5h16v11h-9.5L6 20v-4H4z",
	"mail":     "M3.5 6h17v12h-17zM4 7l8 6 8-6",
	"photo":    "M4 5h16v14H4zM4 16l5-5 4 4 3-2.5 4 3.5M15.5 9h.01",
	"place":    "M12 21c4-4 6.5-7.6 6.5-11a6.5 6.5 0 0 0-13 0c0 3.4 2.5 7 6.5 11zM12 10h.01",
	"body":     "M3 12h4l2.5-6 4 12 2.5-6h5",
	"money":    "M4 7h16v11H4zM4 11h16M8 15h3",
	"note":     "M6 3.5h9l4 4v13H6zM14.5 4v4H19M9.5 13h6M9.5 16.5h4",
	"code":     "M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5M13.5 4.5l-3 15",
	"plan":     "M5 6h14v14H5zM5 10.5h14M9 3.5V7M15 3.5V7",
	"people": "M9 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7M2.5 20c0-7.3 13-7.3 13 0" +
		"M16 5a3.2 3.2 0 0 1 0 6M17.5 15c2.4.5 4 2 4 5",
	"past":     "M12 4a8 8 0 1 1-7.4 5M4 4.5V9h4.5M12 8v4.5l3 2",
	"changed":  "M4 8h13l-3.5-3.5M20 16H7l3.5 3.5",
	"complete": "M4 6h16M4 12h10M4 18h7M18 12h2M15 18h5",
	"sources":  "M12 4v9.5M8 9.5l4 4 4-4M4.5 15v4.5h15V15",
	"sharing":  "M8 12.5V19h8v-6.5M12 15V4M8.5 7.5 12 4l3.5 3.5",
	"settings": "M4 7h9M17 7h3M15 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4M4 17h3M11 17h9M9 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4",
}
