package ui

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Frame is what surrounds a page.
type Frame struct {
	Title string
	// Active is the part of the console that the page belongs to: connections,
	// records, grants, devices, schedules or settings.
	Active string
	// Watched says that Indicator was read for this page, so that nil means well.
	// Otherwise the page says nothing of the runtime.
	Watched   bool
	Indicator *view.RuntimeIndicator
	Now       time.Time
	// Flash is what came of the owner's last action.
	Flash *Message
	// Live is the address of the page's events; empty means that it has none.
	Live string
}

// Message is something to tell the owner. Kind is ok, bad or note.
type Message struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Next string `json:"next,omitempty"`
	// Link is an address of this console, with its words.
	Link, LinkText string `json:",omitempty"`
	// Anyway is the address of a run that is to be started although the source is to
	// be left alone. It is for the answer at hand, and kept in no cookie.
	Anyway string `json:"-"`
}

// Good tells that an action was taken.
func Good(text string) Message { return Message{Kind: "ok", Text: text} }

// Route is one address of the console. Patterns are those of http.ServeMux.
type Route struct {
	Pattern string
	Handler http.Handler
	// Confirm says that the owner must have shown lately that it is them.
	Confirm bool
}

// tab is a part of the console in the navigation.
type tab struct{ name, label, address string }

var tabs = []tab{
	{"connections", "Connections", "/"},
	{"records", "Records", "/records"},
	{"grants", "Grants", "/grants"},
	{"schedules", "Schedules", "/schedules"},
	{"devices", "Devices", "/devices"},
	{"settings", "Settings", "/settings"},
}

// NeedsOwner reports whether the verdict calls for its owner.
func NeedsOwner(v *verdict.Verdict) bool { return v.Channel == verdict.Attention }

// tone is the class of a message of the kind.
func (m Message) tone() string {
	switch m.Kind {
	case "ok":
		return "green"
	case "bad":
		return "red"
	case "warn":
		return "amber"
	default:
		return "grey"
	}
}

// role makes screen readers speak a failure at once, and the rest when there is time.
func (m Message) role() string {
	if m.Kind == "bad" {
		return "alert"
	}
	return "status"
}
