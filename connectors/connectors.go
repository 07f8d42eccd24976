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
	"github.com/pdpp-go/pdpp/connectors/fitbit"
	"github.com/pdpp-go/pdpp/connectors/gitea"
	"github.com/pdpp-go/pdpp/connectors/github"
	"github.com/pdpp-go/pdpp/connectors/gitlab"
	googlecalendar "github.com/pdpp-go/pdpp/connectors/google_calendar"
	googlecontacts "github.com/pdpp-go/pdpp/connectors/google_contacts"
	googletakeout "github.com/pdpp-go/pdpp/connectors/google_takeout"
	googletasks "github.com/pdpp-go/pdpp/connectors/google_tasks"
	hackernews "github.com/pdpp-go/pdpp/connectors/hacker_news"
	"github.com/pdpp-go/pdpp/connectors/ical"
	"github.com/pdpp-go/pdpp/connectors/imap"
	"github.com/pdpp-go/pdpp/connectors/imessage"
	"github.com/pdpp-go/pdpp/connectors/jellyfin"
	"github.com/pdpp-go/pdpp/connectors/lastfm"
	"github.com/pdpp-go/pdpp/connectors/linear"
	"github.com/pdpp-go/pdpp/connectors/mail"
	"github.com/pdpp-go/pdpp/connectors/mastodon"
	"github.com/pdpp-go/pdpp/connectors/matrix"
	microsofttodo "github.com/pdpp-go/pdpp/connectors/microsoft_todo"
	"github.com/pdpp-go/pdpp/connectors/miniflux"
	netflixexport "github.com/pdpp-go/pdpp/connectors/netflix_export"
	"github.com/pdpp-go/pdpp/connectors/notes"
	"github.com/pdpp-go/pdpp/connectors/notion"
	"github.com/pdpp-go/pdpp/connectors/oura"
	"github.com/pdpp-go/pdpp/connectors/pocket"
	"github.com/pdpp-go/pdpp/connectors/raindrop"
	"github.com/pdpp-go/pdpp/connectors/readwise"
	redditexport "github.com/pdpp-go/pdpp/connectors/reddit_export"
	"github.com/pdpp-go/pdpp/connectors/slack"
	"github.com/pdpp-go/pdpp/connectors/spotify"
	"github.com/pdpp-go/pdpp/connectors/steam"
	"github.com/pdpp-go/pdpp/connectors/strava"
	"github.com/pdpp-go/pdpp/connectors/todoist"
	"github.com/pdpp-go/pdpp/connectors/toggl"
	"github.com/pdpp-go/pdpp/connectors/trakt"
	twitterarchive "github.com/pdpp-go/pdpp/connectors/twitter_archive"
	"github.com/pdpp-go/pdpp/connectors/wallabag"
	"github.com/pdpp-go/pdpp/connectors/whatsapp"
	"github.com/pdpp-go/pdpp/connectors/whoop"
	"github.com/pdpp-go/pdpp/connectors/withings"
	"github.com/pdpp-go/pdpp/connectors/ynab"
)

// ConnectorEntry is one built-in connector. New is called only for the one that runs.
type ConnectorEntry struct {
	Name string // the manifest's key
	New  func() connectorkit.Connector
}

// Registered lists the built-in connectors by name.
var Registered = []ConnectorEntry{
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
	{"fitbit", fitbit.Connector},
	{"gitea", gitea.Connector},
	{"github", github.Connector},
	{"gitlab", gitlab.Connector},
	{"google_calendar", googlecalendar.Connector},
	{"google_contacts", googlecontacts.Connector},
	{"google_takeout", googletakeout.Connector},
	{"google_tasks", googletasks.Connector},
	{"hacker_news", hackernews.Connector},
	{"ical", ical.Connector},
	{"imap", imap.Connector},
	{"imessage", imessage.Connector},
	{"jellyfin", jellyfin.Connector},
	{"lastfm", lastfm.Connector},
	{"linear", linear.Connector},
	{"mail", mail.Connector},
	{"mastodon", mastodon.Connector},
	{"matrix", matrix.Connector},
	{"microsoft_todo", microsofttodo.Connector},
	{"miniflux", miniflux.Connector},
	{"netflix_export", netflixexport.Connector},
	{"notes", notes.Connector},
	{"notion", notion.Connector},
	{"oura", oura.Connector},
	{"pocket", pocket.Connector},
	{"raindrop", raindrop.Connector},
	{"readwise", readwise.Connector},
	{"reddit_export", redditexport.Connector},
	{"slack", slack.Connector},
	{"spotify", spotify.Connector},
	{"steam", steam.Connector},
	{"strava", strava.Connector},
	{"todoist", todoist.Connector},
	{"toggl", toggl.Connector},
	{"trakt", trakt.Connector},
	{"twitter_archive", twitterarchive.Connector},
	{"wallabag", wallabag.Connector},
	{"whatsapp", whatsapp.Connector},
	{"whoop", whoop.Connector},
	{"withings", withings.Connector},
	{"ynab", ynab.Connector},
}

// answerSheets describe the answers of each provider, as recorded by the connector's TestDrift.
//
//go:embed */answers.txt
var answerSheets embed.FS

// NewConnector makes the connector, with its sheet of answers where it has one.
func (e ConnectorEntry) NewConnector() connectorkit.Connector {
	c := e.New()
	if sheet, err := answerSheets.ReadFile(e.Name + "/answers.txt"); err == nil {
		c.Answers = string(sheet)
	}
	return c
}

// Schemaless lists, by name, the connectors that emit records without validating them against their schemas. Each
// entry has the reason and the condition for its removal. A test lets the list only shrink.
var Schemaless = map[string]string{}

// FindEntry returns the connector with that name.
func FindEntry(name string) (ConnectorEntry, bool) {
	for _, e := range Registered {
		if e.Name == name {
			return e, true
		}
	}
	return ConnectorEntry{}, false
}
