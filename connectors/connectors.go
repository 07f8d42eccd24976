// Package connectors is the list of built-in connectors, one folder each. A
// connector is a child process like any foreign one; cmd/pdpp-connectors hosts
// the ones listed here.
package connectors

import (
	"embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	applehealth "github.com/pdpp-go/pdpp/connectors/apple_health"
	"github.com/pdpp-go/pdpp/connectors/bluesky"
	browserhistory "github.com/pdpp-go/pdpp/connectors/browser_history"
	"github.com/pdpp-go/pdpp/connectors/caldav"
	"github.com/pdpp-go/pdpp/connectors/carddav"
	"github.com/pdpp-go/pdpp/connectors/chatgpt"
	claudecode "github.com/pdpp-go/pdpp/connectors/claude_code"
	"github.com/pdpp-go/pdpp/connectors/codex"
	"github.com/pdpp-go/pdpp/connectors/example"
	examplebrowser "github.com/pdpp-go/pdpp/connectors/example_browser"
	"github.com/pdpp-go/pdpp/connectors/gitea"
	"github.com/pdpp-go/pdpp/connectors/github"
	googlecalendar "github.com/pdpp-go/pdpp/connectors/google_calendar"
	googlecontacts "github.com/pdpp-go/pdpp/connectors/google_contacts"
	googletakeout "github.com/pdpp-go/pdpp/connectors/google_takeout"
	"github.com/pdpp-go/pdpp/connectors/ical"
	"github.com/pdpp-go/pdpp/connectors/imap"
	"github.com/pdpp-go/pdpp/connectors/imessage"
	"github.com/pdpp-go/pdpp/connectors/mail"
	"github.com/pdpp-go/pdpp/connectors/matrix"
	"github.com/pdpp-go/pdpp/connectors/miniflux"
	netflixexport "github.com/pdpp-go/pdpp/connectors/netflix_export"
	"github.com/pdpp-go/pdpp/connectors/notes"
	"github.com/pdpp-go/pdpp/connectors/notion"
	"github.com/pdpp-go/pdpp/connectors/oura"
	"github.com/pdpp-go/pdpp/connectors/pocket"
	redditexport "github.com/pdpp-go/pdpp/connectors/reddit_export"
	"github.com/pdpp-go/pdpp/connectors/slack"
	"github.com/pdpp-go/pdpp/connectors/spotify"
	"github.com/pdpp-go/pdpp/connectors/strava"
	twitterarchive "github.com/pdpp-go/pdpp/connectors/twitter_archive"
	"github.com/pdpp-go/pdpp/connectors/whatsapp"
	"github.com/pdpp-go/pdpp/connectors/ynab"
)

// Entry is one built-in connector. New is called only for the one that runs.
type Entry struct {
	Name string // the manifest's key
	New  func() connectorkit.Connector
}

// All lists the built-in connectors by name.
var All = []Entry{
	{"apple_health", applehealth.Connector},
	{"bluesky", bluesky.Connector},
	{"browser_history", browserhistory.Connector},
	{"caldav", caldav.Connector},
	{"carddav", carddav.Connector},
	{"chatgpt", chatgpt.Connector},
	{"claude_code", claudecode.Connector},
	{"codex", codex.Connector},
	{"example", example.Connector},
	{"example_browser", examplebrowser.Connector},
	{"gitea", gitea.Connector},
	{"github", github.Connector},
	{"google_calendar", googlecalendar.Connector},
	{"google_contacts", googlecontacts.Connector},
	{"google_takeout", googletakeout.Connector},
	{"ical", ical.Connector},
	{"imap", imap.Connector},
	{"imessage", imessage.Connector},
	{"mail", mail.Connector},
	{"matrix", matrix.Connector},
	{"miniflux", miniflux.Connector},
	{"netflix_export", netflixexport.Connector},
	{"notes", notes.Connector},
	{"notion", notion.Connector},
	{"oura", oura.Connector},
	{"pocket", pocket.Connector},
	{"reddit_export", redditexport.Connector},
	{"slack", slack.Connector},
	{"spotify", spotify.Connector},
	{"strava", strava.Connector},
	{"twitter_archive", twitterarchive.Connector},
	{"whatsapp", whatsapp.Connector},
	{"ynab", ynab.Connector},
}

// sheets are what each connector knows of its provider's answers, written by its TestDrift.
//
//go:embed */answers.txt
var sheets embed.FS

// Connector makes the connector, with its sheet of answers where it has one.
func (e Entry) Connector() connectorkit.Connector {
	c := e.New()
	if sheet, err := sheets.ReadFile(e.Name + "/answers.txt"); err == nil {
		c.Answers = string(sheet)
	}
	return c
}

// Schemaless lists, by name, the connectors that emit records without judging
// them against their schemas. Each entry says why, and what would end it. A test
// keeps the list honest: it can only shrink.
var Schemaless = map[string]string{}

// Find gives the connector with that name.
func Find(name string) (Entry, bool) {
	for _, e := range All {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}
