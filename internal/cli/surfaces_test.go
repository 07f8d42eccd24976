package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
)

// offered is where an owner finds a method: a command, an address for programs, a page.
// A place that is missing is named by Instead, with the reason.
type offered struct{ Command, Route, Page, Instead string }

// surfaces has every method of Owner.
var surfaces = map[string]offered{
	"Overview":   {Command: "status", Route: "GET /_ref/connections", Page: "GET /"},
	"Connection": {Command: "status", Route: "GET /_ref/connections/{id}", Page: "GET /sources/{id}"},
	"Why": {Command: "why", Route: "GET /_ref/connections/{id}/why",
		Instead: "the page of a connection shows the reasons that come with Connection, from the same judgement"},
	"Pace": {Command: "rate", Route: "GET /_ref/connections/{id}/pace", Page: "GET /sources/{id}"},
	"Attention": {Command: "attention", Route: "GET /_ref/attention",
		Instead: "a page shows what is asked of the owner in the verdict that asks it, and the question of a run on the " +
			"run's page"},
	"Schedules": {Command: "schedule list", Route: "GET /_ref/schedules",
		Instead: "the page /settings/pace shows a page of connections at a time, each with its plan, from Connection"},

	"Import":     {Command: "import", Route: "POST /_ref/connections/{id}/imports", Page: "POST /sources/{id}/files"},
	"Imports":    {Command: "imports", Route: "GET /_ref/connections/{id}/imports", Page: "GET /sources/{id}/files"},
	"ImportByID": {Command: "imports", Route: "GET /_ref/imports/{id}", Page: "GET /sources/{id}/files/{import}"},
	"UndoImport": {Command: "imports", Route: "POST /_ref/imports/{id}/undo",
		Page: "POST /sources/{id}/files/{import}/undo"},

	"BeginUpload": {Route: "POST /_ref/connections/{id}/uploads",
		Instead: "a command that imports over a server, and the script of the page of files, send large files in pieces " +
			"by themselves"},
	"AddPiece":   {Route: "PATCH /_ref/connections/{id}/uploads/{upload}", Instead: "as BeginUpload"},
	"UploadByID": {Route: "GET /_ref/connections/{id}/uploads/{upload}", Instead: "as BeginUpload"},
	"Uploads":    {Command: "imports", Route: "GET /_ref/connections/{id}/uploads", Page: "GET /sources/{id}/files"},
	"DropUpload": {Command: "imports", Route: "DELETE /_ref/connections/{id}/uploads/{upload}",
		Page: "POST /sources/{id}/files/uploads/{upload}/drop"},

	"Devices": {Command: "devices", Route: "GET /_ref/device-exporters", Page: "GET /settings/devices"},
	"RenameDevice": {Command: "devices rename", Route: "PATCH /_ref/device-exporters/{id}",
		Page: "POST /settings/devices/{id}/rename"},
	"RevokeDevice": {Command: "devices revoke", Route: "POST /_ref/device-exporters/{id}/revoke",
		Page: "POST /settings/devices/{id}/revoke"},
	"UndoDevice": {Command: "devices revoke", Route: "POST /_ref/device-exporters/{id}/undo",
		Page: "POST /settings/devices/{id}/undo"},
	"DeviceDiagnostics": {Command: "devices diagnostics", Route: "GET /_ref/device-exporters/diagnostics",
		Instead: "the page of a device shows what it reported, and the page of a connection what is covered and missing"},
	"AddDevice": {Command: "devices add", Route: "POST /_ref/device-exporters/enrollment-codes",
		Page: "POST /sources/add/{connector}/device"},
	"DeviceCodes": {Command: "devices codes", Route: "GET /_ref/device-exporters/enrollment-codes",
		Page: "GET /settings/devices/codes/{id}"},
	"CancelDeviceCode": {Command: "devices cancel", Route: "DELETE /_ref/device-exporters/enrollment-codes/{id}",
		Page: "POST /settings/devices/codes/{id}/cancel"},

	"Gaps": {Command: "gaps list", Route: "GET /_ref/gaps", Page: "GET /sources/{id}/missing"},
	"Gap":  {Command: "gaps explain", Route: "GET /_ref/gaps/{id}", Page: "GET /sources/{id}/missing/{gap}"},
	"RetryGap": {Command: "gaps retry", Route: "POST /_ref/gaps/{id}/retry",
		Page: "POST /sources/{id}/missing/{gap}/retry"},
	"IgnoreGap": {Command: "gaps ignore", Route: "POST /_ref/gaps/{id}/ignore",
		Page: "POST /sources/{id}/missing/{gap}/ignore"},

	"Bookmarks": {Command: "state show", Route: "GET /_ref/connections/{id}/bookmarks",
		Page: "GET /sources/{id}/bookmarks"},
	"BookmarkLog": {Command: "state log", Route: "GET /_ref/bookmarks/log", Page: "GET /sources/{id}/bookmarks"},
	"PreviewRewind": {Command: "state rewind", Route: "GET /_ref/bookmarks/rewind",
		Page: "GET /sources/{id}/bookmarks/rewind"},
	"Rewind": {Command: "state rewind", Route: "POST /_ref/bookmarks/rewind",
		Page: "POST /sources/{id}/bookmarks/rewind"},

	"Connectors": {Command: "connectors show", Route: "GET /_ref/connectors", Page: "GET /sources/add"},
	"ReviewSourceFile": {Command: "connectors add", Route: "POST /_ref/source-files/review",
		Page: "POST /sources/add/from-file"},
	"AddSourceFile": {Command: "connectors add", Route: "POST /_ref/source-files",
		Page: "POST /sources/add/from-file/confirm"},
	"RemoveSourceFile": {Command: "connectors remove", Route: "DELETE /_ref/source-files/{name}",
		Page: "POST /sources/add/from-file/remove"},
	"Connect": {Command: "connect", Route: "POST /_ref/connections", Page: "POST /sources/add/{connector}"},
	"Rename":  {Command: "rename", Route: "PATCH /_ref/connections/{id}", Page: "POST /sources/{id}/rename"},
	"SetCredential": {Command: "credential set", Route: "PUT /_ref/connections/{id}/credential",
		Page: "POST /sources/{id}/credential"},
	"RemoveCredential": {Command: "credential remove", Route: "DELETE /_ref/connections/{id}/credential",
		Instead: "on a page a credential is replaced, or ends with its connection"},
	"BeginSignIn": {Command: "connect", Route: "POST /_ref/connections/{id}/sign-in",
		Page: "POST /sources/{id}/allow"},
	"FinishSignIn": {Command: "connect", Route: "POST /_ref/sign-ins/answer", Page: "GET /oauth/callback"},
	"SetProviderApp": {Command: "connect", Route: "PUT /_ref/connector-templates/{id}/app",
		Page: "POST /sources/{id}/allow/app"},
	"SetSchedule": {Command: "schedule set", Route: "PUT /_ref/connections/{id}/schedule",
		Page: "POST /settings/pace/{connection}"},
	"DeleteSchedule": {Command: "schedule remove", Route: "DELETE /_ref/connections/{id}/schedule",
		Page: "POST /settings/pace/{connection}"},
	"SetLimits": {Command: "limits", Route: "PUT /_ref/connections/{id}/limits",
		Page: "POST /sources/{id}/limits"},
	"SetSelection": {Command: "select", Route: "PUT /_ref/connections/{id}/selection",
		Page: "POST /sources/{id}/selection"},
	"Revoke": {Command: "revoke", Route: "POST /_ref/connections/{id}/revoke",
		Page: "POST /sources/{id}/revoke"},
	"Acknowledge": {Command: "attention accept", Route: "POST /_ref/connections/{id}/acknowledge",
		Page: "POST /sources/{id}/acknowledge"},

	"Run":       {Command: "run", Route: "POST /_ref/connections/{id}/run", Page: "POST /sources/{id}/run"},
	"RunAnyway": {Command: "run", Route: "POST /_ref/connections/{id}/run", Page: "POST /sources/{id}/run"},
	"Collect":   {Command: "run", Route: "POST /_ref/connections/{id}/collect", Page: "POST /sources/{id}/selection"},
	"Work": {Command: "workers", Route: "GET /_ref/work",
		Instead: "the page /settings lists the workers from Runtime, and /runs the runs under way"},
	"Runs":     {Command: "runs", Route: "GET /_ref/runs", Page: "GET /runs"},
	"RunByID":  {Command: "run show", Route: "GET /_ref/runs/{id}", Page: "GET /runs/{id}"},
	"Timeline": {Command: "run show", Route: "GET /_ref/runs/{id}/timeline", Page: "GET /runs/{id}"},
	"Cancel":   {Command: "cancel", Route: "POST /_ref/runs/{id}/cancel", Page: "POST /runs/{id}/cancel"},
	"Stop": {Command: "cancel", Route: "POST /_ref/connections/{id}/cancel",
		Instead: "a run under way is stopped on its page, by Cancel"},
	"RunRecovery": {Command: "run", Route: "POST /_ref/connections/{id}/run",
		Instead: "on a page what is missing is tried again by Acknowledge, or gap by gap by RetryGap"},
	"Question": {Command: "answer", Route: "GET /_ref/runs/{id}/interaction", Page: "GET /runs/{id}"},
	"Answer":   {Command: "answer", Route: "POST /_ref/runs/{id}/interaction", Page: "POST /runs/{id}/answer"},

	"Streams": {Command: "streams", Route: "GET /_ref/explore/streams", Page: "GET /settings/details/streams"},
	"Records": {Command: "records", Route: "GET /_ref/explore/records", Page: "GET /search"},
	"Record": {Command: "record", Route: "GET /_ref/explore/records/{connection}/{stream}/{key...}",
		Page: "GET /thing/{connection}/{stream}/{key}"},
	"Changes":         {Command: "changes", Route: "GET /_ref/explore/changes", Page: "GET /changed"},
	"Aggregate":       {Command: "aggregate", Route: "GET /_ref/explore/aggregate", Page: "GET /search"},
	"Kept":            {Command: "overview", Route: "GET /_ref/explore/overview", Page: "GET /complete"},
	"Days":            {Command: "overview days", Route: "GET /_ref/explore/days", Page: "GET /timeline"},
	"Storage":         {Command: "storage", Route: "GET /_ref/storage", Page: "GET /settings/storage"},
	"Search":          {Command: "search", Route: "GET /_ref/search", Page: "GET /search"},
	"PreviewDeletion": {Command: "delete", Route: "POST /_ref/deletions/preview", Page: "GET /settings/deletions/new"},
	"Delete":          {Command: "delete", Route: "POST /_ref/deletions", Page: "POST /settings/deletions"},
	"Deletions":       {Command: "deletions", Route: "GET /_ref/deletions", Page: "GET /settings/deletions"},
	"DeletionByID": {Command: "deletions show", Route: "GET /_ref/deletions/{id}",
		Page: "GET /settings/deletions/{id}"},
	"UndoDeletion": {Command: "deletions undo", Route: "POST /_ref/deletions/{id}/undo",
		Page: "POST /settings/deletions/{id}/undo"},
	"PurgeDeletion": {Command: "deletions purge", Route: "POST /_ref/deletions/{id}/purge",
		Page: "POST /settings/deletions/{id}/purge"},
	"CollectDeleted": {Command: "deletions collect", Route: "POST /_ref/deletions/{id}/collect",
		Page: "POST /settings/deletions/{id}/collect"},
	"EndedConnections": {Command: "deletions ended", Route: "GET /_ref/ended-connections",
		Page: "GET /settings/deletions"},

	"SavedSearches": {Command: "searches", Route: "GET /_ref/searches", Page: "GET /search/saved"},
	"SaveSearch":    {Command: "searches save", Route: "POST /_ref/searches", Page: "POST /search/saved"},
	"RenameSearch": {Command: "searches rename", Route: "PATCH /_ref/searches/{id}",
		Page: "POST /search/saved/{id}/rename"},
	"DeleteSearch": {Command: "searches delete", Route: "DELETE /_ref/searches/{id}",
		Page: "POST /search/saved/{id}/delete"},
	"Export": {Command: "export", Route: "GET /_ref/export", Page: "GET /search/export"},
	"CopyFile": {Command: "file", Route: "GET /_ref/files/{sha256}",
		Page: "GET /thing/{connection}/{stream}/{key}/files/{sha256}"},

	"Grants":       {Command: "grants list", Route: "GET /_ref/grants", Page: "GET /sharing"},
	"Grant":        {Command: "grants show", Route: "GET /_ref/grants/{id}", Page: "GET /sharing/{id}"},
	"CreateGrant":  {Command: "grants create", Route: "POST /_ref/grants", Page: "POST /sharing"},
	"RevokeGrant":  {Command: "grants revoke", Route: "POST /_ref/grants/{id}/revoke", Page: "POST /sharing/{id}/revoke"},
	"GrantRequest": {Command: "grants request", Route: "GET /_ref/approvals/{id}", Page: "GET /sharing/allow/{id}"},
	"Decide": {Command: "grants approve", Route: "POST /_ref/approvals/{id}",
		Page: "POST /sharing/allow/{id}/answer"},

	"People":        {Command: "people", Route: "GET /_ref/people", Page: "GET /people"},
	"Person":        {Command: "people show", Route: "GET /_ref/people/{id}", Page: "GET /people/{id}"},
	"JoinPeople":    {Command: "people join", Route: "POST /_ref/people/{id}/join", Page: "POST /people/{id}/join"},
	"SplitPerson":   {Command: "people split", Route: "POST /_ref/people/{id}/split", Page: "POST /people/{id}/split"},
	"SetPersonMine": {Command: "people mine", Route: "POST /_ref/people/{id}/mine", Page: "POST /people/{id}/mine"},

	"SemanticSearch": {Command: "semantic", Route: "GET /_ref/semantic-search", Page: "GET /settings/meaning"},
	"SetSemanticSearch": {Command: "semantic set", Route: "PUT /_ref/semantic-search",
		Page: "POST /settings/meaning"},
	"EndSemanticSearch": {Command: "semantic off", Route: "DELETE /_ref/semantic-search",
		Page: "POST /settings/meaning/off"},

	"Webhooks":   {Command: "webhooks", Route: "GET /_ref/webhooks", Page: "GET /sharing/deliveries"},
	"AddWebhook": {Command: "webhooks add", Route: "POST /_ref/webhooks", Page: "POST /sharing/deliveries"},
	"PauseWebhook": {Command: "webhooks pause", Route: "POST /_ref/webhooks/{id}/pause",
		Page: "POST /sharing/deliveries/{id}/pause"},
	"ResumeWebhook": {Command: "webhooks resume", Route: "POST /_ref/webhooks/{id}/resume",
		Page: "POST /sharing/deliveries/{id}/resume"},
	"RemoveWebhook": {Command: "webhooks remove", Route: "DELETE /_ref/webhooks/{id}",
		Page: "POST /sharing/deliveries/{id}/remove"},
	"RotateWebhook": {Command: "webhooks rotate", Route: "POST /_ref/webhooks/{id}/secret",
		Page: "POST /sharing/deliveries/{id}/secret"},
	"ReplayWebhook": {Command: "webhooks replay", Route: "POST /_ref/webhooks/{id}/replay",
		Page: "POST /sharing/deliveries/{id}/replay"},
	"TestWebhook": {Command: "webhooks test", Route: "POST /_ref/webhooks/{id}/test",
		Page: "POST /sharing/deliveries/{id}/test"},

	"Triggers":   {Command: "triggers", Route: "GET /_ref/triggers", Page: "GET /sharing/deliveries"},
	"AddTrigger": {Command: "triggers add", Route: "POST /_ref/triggers", Page: "POST /sharing/deliveries/triggers"},
	"RemoveTrigger": {Command: "triggers remove", Route: "DELETE /_ref/triggers/{id}",
		Page: "POST /sharing/deliveries/triggers/{id}/remove"},

	"Tokens":      {Command: "tokens list", Route: "GET /_ref/tokens", Page: "GET /settings/sign-in"},
	"CreateToken": {Command: "tokens create", Route: "POST /_ref/tokens", Page: "POST /settings/tokens"},
	"RevokeToken": {Command: "tokens revoke", Route: "POST /_ref/tokens/{id}/revoke",
		Page: "POST /settings/tokens/{id}/revoke"},
	"Sessions": {Command: "sessions list", Route: "GET /_ref/sessions", Page: "GET /settings/sign-in"},
	"EndSession": {Command: "sessions end", Route: "POST /_ref/sessions/{id}/end",
		Page: "POST /settings/sessions/{id}/end"},
	"EndSessions": {Command: "sessions end", Route: "POST /_ref/sessions/end", Page: "POST /settings/sessions/end"},
	"Passkeys":    {Command: "passkeys list", Route: "GET /_ref/passkeys", Page: "GET /settings/sign-in"},
	"RemovePasskey": {Command: "passkeys remove", Route: "DELETE /_ref/passkeys/{id}",
		Page: "POST /settings/passkeys/{id}/remove"},
	"RecoveryCodes": {Command: "recovery-codes", Route: "GET /_ref/recovery-codes", Page: "GET /settings/sign-in"},
	"MakeRecoveryCodes": {Command: "recovery-codes create", Route: "POST /_ref/recovery-codes",
		Page: "POST /settings/recovery-codes"},
	"SetPassword": {Command: "password", Route: "PUT /_ref/password", Page: "POST /settings/password"},

	"PushTargets":   {Command: "notify", Route: "GET /_ref/web-push/subscriptions", Page: "GET /settings"},
	"AddPushTarget": {Command: "notify add", Route: "POST /_ref/web-push/subscriptions", Page: "POST /settings/push"},
	"DeletePushTarget": {Command: "notify remove", Route: "DELETE /_ref/web-push/subscriptions/{id}",
		Page: "POST /settings/push/{id}/remove"},
	"TestPush":      {Command: "notify test", Route: "POST /_ref/web-push/test", Page: "POST /settings/push/test"},
	"QuietHours":    {Command: "notify", Route: "GET /_ref/quiet-hours", Page: "GET /settings"},
	"SetQuietHours": {Command: "notify quiet", Route: "PUT /_ref/quiet-hours", Page: "POST /settings/quiet"},
	"Audit":         {Command: "audit", Route: "GET /_ref/audit", Page: "GET /sharing/reads"},
	"SetAuditRetention": {Command: "audit keep", Route: "PUT /_ref/audit/retention",
		Page: "POST /sharing/reads/retention"},
	"Runtime": {Command: "login", Route: "GET /_ref/runtime", Page: "GET /settings"},
}

// What an owner can see and do, every surface offers: a method of Owner has a command, a
// route and a page that ask for it, or a written reason why not.
func TestEverySurfaceOffersEverything(t *testing.T) {
	methods := reflect.TypeFor[api.Owner]()
	for name := range surfaces {
		if _, there := methods.MethodByName(name); !there {
			t.Errorf("Owner has no method %s", name)
		}
	}
	command := newRootCommand(&command.Invocation{})
	mux := http.NewServeMux()
	console.Mount(mux, console.Config{Auth: openPages{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		PageHeaders: func(next http.Handler) http.Handler { return next }})
	var patterns []string
	for _, r := range routes.Routes(nil, nil) {
		patterns = append(patterns, r.Pattern)
	}
	asked := map[string]map[string]bool{
		"command": askedIn(t, "*", "../owner/export"), "route": askedIn(t, "../owner/routes"),
		"page": askedIn(t, "../owner/console/*"),
	}
	for _, operation := range api.Operations() { // most routes are derived from the table
		call := runtime.FuncForPC(reflect.ValueOf(operation.Call).Pointer()).Name()
		asked["route"][call[strings.LastIndex(call, ".")+1:]] = true
	}
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		at, listed := surfaces[name]
		if !listed {
			t.Errorf("%s is new: where does an owner find it?", name)
			continue
		}
		missing := 0
		for kind, place := range map[string]string{"command": at.Command, "route": at.Route, "page": at.Page} {
			switch {
			case place == "":
				missing++
				if asked[kind][name] {
					t.Errorf("%s is said to have no %s, and one asks for it", name, kind)
				}
			case !asked[kind][name]:
				t.Errorf("%s: no %s asks for it, and %s is named", name, kind, place)
			}
		}
		if (missing > 0) != (at.Instead != "") {
			t.Errorf("%s lacks %d of command, route and page, and the reason is %q", name, missing, at.Instead)
		}
		if at.Command != "" {
			found, _, err := command.Find(strings.Fields(at.Command))
			if err != nil || found.CommandPath() != "pdpp "+at.Command || !found.Runnable() {
				t.Errorf("%s: there is no command %s", name, at.Command)
			}
		}
		if at.Route != "" && !slices.Contains(patterns, at.Route) {
			t.Errorf("%s: there is no route %s", name, at.Route)
		}
		if at.Page != "" {
			method, path, _ := strings.Cut(at.Page, " ")
			asking := httptest.NewRequest(method, wildcard.ReplaceAllString(path, "x"), nil)
			handler, pattern := mux.Handler(asking)
			if below, is := handler.(interface {
				Handler(*http.Request) (http.Handler, string)
			}); is {
				_, pattern = below.Handler(asking)
			}
			if strings.TrimSuffix(pattern, "{$}") != at.Page {
				t.Errorf("%s: the page %s is %q", name, at.Page, pattern)
			}
		}
	}
}

var wildcard = regexp.MustCompile(`\{[^}]*\}`)

// askedIn finds which methods the shipped files of the folders ask an owner for.
func askedIn(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	var files []string
	for _, pattern := range folders {
		found, err := filepath.Glob(filepath.Join(pattern, "*.go"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s holds no files: %v", pattern, err)
		}
		files = append(files, found...)
	}
	asked := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if s, is := n.(*ast.SelectorExpr); is && isOwner(s.X) {
				asked[s.Sel.Name] = true
			}
			return true
		})
	}
	return asked
}

// isOwner reports whether an expression is called an owner.
func isOwner(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "o" || e.Name == "owner"
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "owner")
	case *ast.CallExpr:
		return isOwner(e.Fun)
	}
	return false
}

// openPages accepts every visitor.
type openPages struct{ console.Auth }

func (openPages) Pages(next http.Handler) http.Handler     { return next }
func (openPages) Confirmed(next http.Handler) http.Handler { return next }
