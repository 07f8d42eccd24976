package connectors

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/manifest"
)

// TestEveryConnectorValidates is the build-time check over the real list. The
// check itself is proven on synthetic connectors in connectorkit.
func TestEveryConnectorValidates(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RT-10.1", "RT-10.2", "RT-10.3", "RT-10.4", "RT-10.5"} {
		t.Attr("spec", id)
	}
	var list []connectorkit.Connector
	for _, e := range Registered {
		list = append(list, e.New())
	}
	for _, err := range connectorkit.CheckValidation(list, Schemaless) {
		t.Error(err)
	}
}

// TestEntriesAgreeWithTheirManifests holds what the rest of the system relies on.
func TestEntriesAgreeWithTheirManifests(t *testing.T) {
	t.Parallel()
	if !slices.IsSortedFunc(Registered, func(a, b ConnectorEntry) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the list is not sorted by name")
	}
	for _, e := range Registered {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			m := e.New().Manifest
			if m.Key() != e.Name {
				t.Errorf("the manifest's key is %s", m.Key())
			}
			if p := m.RefreshPolicy(); p == nil || p.MaximumStalenessSeconds == 0 {
				t.Error("the refresh policy declares no maximum_staleness_seconds: its data would never count as fresh")
			}
			for _, s := range m.Streams {
				if s.Commit() != manifest.CheckpointSlice {
					t.Errorf("stream %s does not commit by slice", s.Name)
				}
			}
		})
	}
}

// unshown are the streams without a kind, by the reason.
var unshown = map[string][]string{
	"tells what was found on a device, not what happened": {"coverage_diagnostics", "claude_code/file_history",
		"claude_code/cache_inventory", "claude_code/backup_inventory",
		"claude_code/config_inventory", "codex/history", "codex/session_index", "codex/shell_snapshots",
		"codex/config_inventory", "codex/cache_inventory"},
	"names what other records belong to": {"caldav/calendars", "google_calendar/calendars", "google_contacts/groups",
		"ical/calendars", "carddav/address_books", "imap/folders", "miniflux/categories", "miniflux/feeds", "slack/workspace",
		"slack/channel_memberships", "slack/user_groups",
		"ynab/budgets", "ynab/accounts", "ynab/category_groups", "ynab/categories", "ynab/payees",
		"ynab/money_movement_groups", "raindrop/collections", "todoist/projects", "todoist/sections", "todoist/labels",
		"google_tasks/lists", "readwise/books",
		"gitlab/projects", "gitlab/starred_projects", "microsoft_todo/lists", "steam/games",
		"toggl/clients", "toggl/projects", "toggl/tags", "toggl/workspaces", "wallabag/tags",
		"trakt/lists", "withings/devices"},
	"is a person or an account, and happens at no time": {"bluesky/profile", "carddav/contacts",
		"google_contacts/contacts", "google_contacts/other_contacts", "github/user", "imessage/participants",
		"fitbit/profile", "hacker_news/profile", "lastfm/profile", "linear/profile",
		"mastodon/followers", "mastodon/following", "matrix/members", "oura/profile", "slack/users",
		"spotify/top_artists", "spotify/top_tracks", "steam/friends", "steam/profile",
		"trakt/profile", "twitter_archive/people", "whoop/body", "whoop/profile"},
	"is a part of another record": {"github/pull_request_details", "imap/bodies", "notion/page_contents",
		"slack/dm_read_states"},
	"does not say when": {"jellyfin/favorites", "reddit_export/saved", "reddit_export/votes", "reddit_export/hidden",
		"reddit_export/subreddits", "reddit_export/account_facts"},
	"has not happened yet": {"ynab/scheduled_transactions", "slack/reminders"},
}

// How a stream is shown is declared, or there is a reason why it is a table.
func TestEveryStreamSaysHowItIsShown(t *testing.T) {
	t.Parallel()
	excused := map[string]bool{}
	for _, names := range unshown {
		for _, name := range names {
			excused[name] = true
		}
	}
	used := map[string]bool{}
	for _, e := range Registered {
		m := e.New().Manifest
		for i := range m.Streams {
			s := &m.Streams[i]
			name := e.Name + "/" + s.Name
			if excused[s.Name] {
				name = s.Name
			}
			switch {
			case s.Shown() == "" && !excused[name]:
				t.Errorf("%s declares no kind that has a page, and unshown does not say why", name)
			case s.Shown() != "" && excused[name]:
				t.Errorf("%s is shown as %s although unshown says that it is not", name, s.Shown())
			}
			used[name] = true
			roles := s.Roles()
			if roles.Time != "" && s.ConsentTimeField != "" && roles.Time != s.ConsentTimeField {
				t.Errorf("%s happens at %s, and a grant's range is of %s", name, roles.Time, s.ConsentTimeField)
			}
			if s.Shown() == manifest.KindMessage && roles.Thread != "" && m.Conversations(s) == nil &&
				!slices.Contains([]string{"imap/messages", "mail/messages", "twitter_archive/direct_messages",
					"twitter_archive/grok_messages"}, name) {
				t.Errorf("%s: no relationship leads from %s to a stream of conversations", name, roles.Thread)
			}
		}
	}
	for name := range excused {
		if !used[name] {
			t.Errorf("unshown names %s, which is no stream", name)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	if e, ok := FindEntry("example"); !ok || e.Name != "example" {
		t.Error("the example connector is not found")
	}
	if _, ok := FindEntry("nothing"); ok {
		t.Error("a connector that is not listed is found")
	}
}

// pointed matches a word that names an action or a place.
var pointed = regexp.MustCompile(`(?i)\b(open|press|tap|choose|create|paste|download|ask for|put)\b`)

// Before an owner enters anything, they read where to click, how long the first run takes, and what cannot be
// collected.
func TestEveryConnectorSaysWhatToExpect(t *testing.T) {
	t.Parallel()
	for _, e := range Registered {
		s := e.New().Manifest.Setup
		if s == nil {
			t.Errorf("%s has no setup", e.Name)
			continue
		}
		if s.FirstRun == "" || len(s.OutOfReach) == 0 {
			t.Errorf("%s does not say how long its first run takes (%q), or what cannot be got (%q)", e.Name, s.FirstRun,
				s.OutOfReach)
		}
		for _, line := range append([]string{s.FirstRun}, s.OutOfReach...) {
			if strings.HasSuffix(line, ".") || len(line) > 200 || len(line) < 10 {
				t.Errorf("%s: %q is not a few words", e.Name, line)
			}
		}
		var ways []string // each way to connect names its own clicks
		if c := s.CredentialCapture; c != nil {
			ways = append(ways, c.Description)
		}
		if f := s.ManualOrUpload; f != nil {
			ways = append(ways, f.Description)
		}
		if s.OAuth != nil {
			ways = append(ways, strings.Join(s.OAuth.RegisterSteps, " "))
		}
		if s.Modality == manifest.ModalityBrowserSession || s.Modality == manifest.ModalityLocalFiles {
			ways = append(ways, strings.Join(s.Steps, " "))
		}
		if len(ways) == 0 {
			t.Errorf("%s says nowhere how it is connected", e.Name)
		}
		for _, text := range ways {
			if !pointed.MatchString(text) {
				t.Errorf("%s does not say where to click: %q", e.Name, text)
			}
		}
	}
}
