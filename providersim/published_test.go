package providersim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/providersim/github"
	"github.com/pdpp-go/pdpp/providersim/google"
	"github.com/pdpp-go/pdpp/providersim/notion"
	"github.com/pdpp-go/pdpp/providersim/slack"
	"github.com/pdpp-go/pdpp/providersim/spotify"
	"github.com/pdpp-go/pdpp/providersim/ynab"
)

// header begins the program that the compiler checks. Some is for simulators that leave out members which the
// published type requires: what they have must be of it all the same. Text reads enumerations as texts, which JSON
// has.
const header = `import type * as ynab from "ynab";
import type * as notion from "@notionhq/client";
import type * as slack from "@slack/web-api";
import type { components } from "@octokit/openapi-types";
import type { people_v1 as people } from "@googleapis/people";
import type * as spotify from "@spotify/web-api-ts-sdk";
type github = components["schemas"];
type Text<T> = T extends string ? string : T extends (infer E)[] ? Text<E>[] : T extends object ? { [K in keyof T]: Text<T[K]> } : T;
type Some<T> = T extends (infer E)[] ? Some<E>[] : T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
` + wrong

// wrong are answers that the compiler must refuse: a package without types would let everything pass.
const wrong = `
// @ts-expect-error
export const wrong1: ynab.TransactionsResponse = { data: { transactions: [{ id: 1 }], server_knowledge: 1 } };
// @ts-expect-error
export const wrong2: notion.SearchResponse = { object: "list", results: [{ object: "page", id: "x", colour: "red" }] };
// @ts-expect-error
export const wrong3: Text<slack.ConversationsHistoryResponse> = { ok: true, messages: [{ colour: "red" }] };
// @ts-expect-error
export const wrong4: Some<github["issue"][]> = [{ number: "7" }];
// @ts-expect-error
export const wrong5: people.Schema$ListConnectionsResponse = { connections: [{ colour: "red" }] };
// @ts-expect-error
export const wrong6: Some<spotify.Page<spotify.SavedTrack>> = { items: [{ track: { colour: "red" } }] };
`

// published is an answer of a simulator and the type that the provider's own package has for it. Left are members of
// its rows that the reference has and the package lacks.
type published struct {
	path, body string
	as         string
	left       []string
}

// service is a running simulator.
type service struct {
	name, url, token string
	header           http.Header
	answers          []published
}

// TestSimulatorsAnswerAsPublished compiles what the simulators answer against the types that the providers publish
// for npm. A member that the type does not know, one of another type, and one that is missing are errors.
func TestSimulatorsAnswerAsPublished(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("PDPP_TEST_NODE_MODULES")
	if modules == "" {
		t.Fatal("set PDPP_TEST_NODE_MODULES to a node_modules folder with the packages of scripts/lib/node.sh in it, as " +
			"make test does")
	}
	var program strings.Builder
	program.WriteString(header)
	count := map[string]int{}
	for _, s := range services(t) {
		for _, p := range s.answers {
			count[s.name]++
			fmt.Fprintf(&program, "export const %s%d: %s = %s;\n", s.name, count[s.name], p.as, s.ask(t, p))
		}
	}
	folder := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"answers.ts":   program.String(),
		"package.json": `{"type":"module"}`,
		"tsconfig.json": `{"compilerOptions":{"noEmit":true,"strict":false,"skipLibCheck":true,"module":"nodenext",` +
			`"moduleResolution":"nodenext","target":"es2022","types":[]},"files":["answers.ts"]}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tsc := filepath.Join("node_modules", "typescript-native", "lib", "tsc.js")
	compiler := exec.CommandContext(t.Context(), "node", tsc, "-p", ".", "--pretty", "false")
	compiler.Dir = folder
	if out, err := compiler.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	t.Logf("answers checked: %v", count)
}

// ask returns an answer as JSON, without the members that the package lacks.
func (s service) ask(t *testing.T, p published) []byte {
	t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if p.body != "" {
		method, body = http.MethodPost, strings.NewReader(p.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+p.path, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range s.header {
		req.Header[name] = values
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %v: %s", s.name, p.path, resp.StatusCode, err, text)
	}
	if len(p.left) == 0 {
		return bytes.TrimSpace(text)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	without(value, p.left)
	if text, err = json.Marshal(value); err != nil {
		t.Fatal(err)
	}
	return text
}

// without removes members wherever they are.
func without(value any, names []string) {
	switch v := value.(type) {
	case []any:
		for _, each := range v {
			without(each, names)
		}
	case map[string]any:
		for _, name := range names {
			delete(v, name)
		}
		for _, each := range v {
			without(each, names)
		}
	}
}

// find returns a text of an answer by its members; numbers are places of a list.
func (s service) find(t *testing.T, p published, way ...any) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(s.ask(t, p), &value); err != nil {
		t.Fatal(err)
	}
	for _, step := range way {
		switch step := step.(type) {
		case int:
			value = value.([]any)[step]
		case string:
			value = value.(map[string]any)[step]
		}
	}
	return value.(string)
}

const token = "token-under-test"

func services(t *testing.T) []service {
	t.Helper()
	started := func(url string, stop func() error, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stop() })
		return url
	}
	y, err := ynab.Start(ynab.Config{Seed: 1, Budgets: 1, Accounts: 3, Categories: 4, Payees: 4, Months: 3,
		Transactions: 9, Token: token})
	money := service{name: "ynab", token: token, url: started(y.BaseURL+"/v1", y.Close, err)}
	plan := "/plans/" + money.find(t, published{path: "/plans"}, "data", "plans", 0, "id")
	month := money.find(t, published{path: plan + "/months"}, "data", "months", 0, "month")
	money.answers = []published{{path: "/user", as: "ynab.UserResponse"}, {path: "/plans", as: "ynab.PlanSummaryResponse"},
		{path: plan + "/accounts", as: "ynab.AccountsResponse"},
		{path: plan + "/categories", as: "ynab.CategoriesResponse"}, {path: plan + "/payees", as: "ynab.PayeesResponse"},
		{path: plan + "/payee_locations", as: "ynab.PayeeLocationsResponse"},
		{path: plan + "/transactions?since_date=2000-01-01", as: "ynab.TransactionsResponse"},
		{path: plan + "/scheduled_transactions", as: "ynab.ScheduledTransactionsResponse"},
		{path: plan + "/months", as: "ynab.MonthSummariesResponse"},
		{path: plan + "/months/" + month, as: "ynab.MonthDetailResponse"},
		{path: plan + "/money_movements", as: "ynab.MoneyMovementsResponse"},
		{path: plan + "/money_movement_groups", as: "ynab.MoneyMovementGroupsResponse"}}

	n, err := notion.Start(notion.Config{Seed: 1, Pages: 6, Databases: 4, Blocks: 9, Nested: true, Token: token})
	notes := service{name: "notion", token: token, url: started(n.BaseURL+"/v1", n.Close, err),
		header: http.Header{"Notion-Version": {"2025-09-03"}}}
	search := func(kind string) published {
		return published{path: "/search", as: "notion.SearchResponse",
			body: `{"filter":{"property":"object","value":"` + kind +
				`"},"sort":{"direction":"descending","timestamp":"last_edited_time"},"page_size":100}`}
	}
	page, source := notes.find(t, search("page"), "results", 0, "id"),
		notes.find(t, search("data_source"), "results", 0, "id")
	database := notes.find(t, search("data_source"), "results", 0, "parent", "database_id")
	notes.answers = []published{search("page"), search("data_source"),
		{path: "/pages/" + page, as: "notion.GetPageResponse"},
		{path: "/data_sources/" + source, as: "notion.GetDataSourceResponse"},
		{path: "/databases/" + database, as: "notion.GetDatabaseResponse"},
		{path: "/blocks/" + page + "/children?page_size=100", as: "notion.ListBlockChildrenResponse"},
		{path: "/data_sources/" + source + "/query", as: "notion.QueryDataSourceResponse",
			body: `{"sorts":[{"direction":"descending","timestamp":"last_edited_time"}],"page_size":100}`}}

	s, err := slack.Start(slack.Config{Seed: 1, Channels: 4, Users: 3, Files: 2, Messages: 12, Token: token})
	talk := service{name: "slack", token: token, url: started(s.BaseURL+"/api", s.Close, err)}
	thread := talk.find(t, published{path: "/conversations.history?channel=C0001&limit=200"}, "messages", 2, "ts")
	talk.answers = []published{{path: "/auth.test", as: "Text<slack.AuthTestResponse>"},
		{path: "/team.info", as: "Text<slack.TeamInfoResponse>"},
		{path: "/conversations.list?limit=200", as: "Text<slack.ConversationsListResponse>"},
		{path: "/users.list?limit=200", as: "Text<slack.UsersListResponse>"},
		{path: "/conversations.history?channel=C0001&limit=200", as: "Text<slack.ConversationsHistoryResponse>"},
		{path: "/conversations.replies?channel=C0001&limit=200&ts=" + thread, as: "Text<slack.ConversationsRepliesResponse>",
			left: []string{"client_msg_id", "subtype", "username"}},
		{path: "/files.list?page=1", as: "Text<slack.FilesListResponse>"},
		{path: "/conversations.members?channel=C0001&limit=200", as: "Text<slack.ConversationsMembersResponse>"},
		{path: "/conversations.info?channel=C0003", as: "Text<slack.ConversationsInfoResponse>", left: []string{"user"}},
		{path: "/usergroups.list", as: "Text<slack.UsergroupsListResponse>"},
		{path: "/reminders.list", as: "Text<slack.RemindersListResponse>"},
		{path: "/stars.list?page=1", as: "Text<slack.StarsListResponse>"}}

	h, err := github.Start(github.Config{Seed: 1, Repositories: 3, Stars: 3, Issues: 4, Pulls: 3, Gists: 2, Events: 13,
		Token: token})
	code := service{name: "github", token: token, url: started(h.BaseURL, h.Close, err),
		header: http.Header{"User-Agent": {"test"}, "Accept": {"application/vnd.github+json"}}}
	login := code.find(t, published{path: "/user"}, "login")
	code.answers = []published{{path: "/user", as: `Some<github["private-user"]>`},
		{path: "/user/repos", as: `Some<github["repository"][]>`}, {path: "/gists", as: `Some<github["base-gist"][]>`},
		{path: "/issues?filter=all&state=all", as: `Some<github["issue"][]>`},
		{path: "/user/starred", as: `Some<github["repository"][]>`},
		{path: "/users/" + login + "/events", as: `Some<github["event"][]>`},
		{path: "/search/issues?q=type:pr+author:" + login,
			as: `Some<{ total_count: number; incomplete_results: boolean; items: github["issue-search-result-item"][] }>`}}
	pull := code.find(t, code.answers[len(code.answers)-1], "items", 0, "pull_request", "url")
	code.answers = append(code.answers, published{path: pull[strings.Index(pull, "/repos/"):],
		as: `Some<github["pull-request"]>`})

	g, err := google.Start(google.Config{Seed: 1, People: 8, Others: 2, Groups: 2, Token: token})
	people := service{name: "people", token: token, url: started(g.BaseURL+"/v1", g.Close, err)}
	people.answers = []published{{path: "/people/me/connections?personFields=addresses,biographies,birthdays," +
		"calendarUrls,emailAddresses,events,fileAses,genders,imClients,memberships,metadata,names,nicknames,occupations," +
		"organizations,phoneNumbers,photos,relations,sipAddresses,urls,userDefined",
		as: "people.Schema$ListConnectionsResponse"}, {path: "/contactGroups?groupFields=groupType,memberCount,name",
		as: "people.Schema$ListContactGroupsResponse"},
		{path: "/otherContacts?readMask=emailAddresses,metadata,names,phoneNumbers",
			as: "people.Schema$ListOtherContactsResponse"}}

	p, err := spotify.Start(spotify.Config{Seed: 1, Playlists: 2, Saved: 5, Plays: 5, Artists: 4, Token: token})
	music := service{name: "spotify", token: token, url: started(p.BaseURL+"/v1", p.Close, err)}
	music.answers = []published{{path: "/me/tracks", as: "Some<spotify.Page<spotify.SavedTrack>>"},
		{path: "/me/top/artists", as: "Some<spotify.Page<spotify.Artist>>"},
		{path: "/me/player/recently-played", as: "Some<spotify.RecentlyPlayedTracksPage>"},
		{path: "/me/playlists?limit=1",
			as: "Some<spotify.Page<Omit<spotify.SimplifiedPlaylist, 'tracks'> & { items?: spotify.TrackReference; tracks?: " +
				"spotify.TrackReference }>>"}}
	return []service{money, notes, talk, code, people, music}
}
