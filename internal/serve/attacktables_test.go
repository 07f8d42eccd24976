package serve

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// target is a running server that is attacked, with everything in it named as an attacker would.
type target struct {
	*ground
	base    string
	session []*http.Cookie
	bearers map[string]string // tokens by their kind
	device  wire.Enrolled
}

// asking sends a request and returns the status, the body and where the answer leads.
func (a *target) asking(method, path string, headers ...string) (int, string, string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, strings.NewReader("{}"))
	a.must(err)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Cookie" {
			for _, c := range a.session {
				r.AddCookie(c)
			}
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r) // which follows no redirect
	a.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	a.must(err)
	return resp.StatusCode, string(body), resp.Header.Get("Location")
}

// TestAttackTables tries on a whole server, over each database: every operation with every kind of token, every form
// and operation from another site, redirects that lead elsewhere, and hostile texts on every page that can be
// reached. The counts are part of the test's result.
func TestAttackTables(t *testing.T) {
	var guard *auth.Auth
	onBoth(t, func(g *ground) {
		guard = g.listen()
		g.config.Blobs = launch.Blobs{Place: blob.FolderStorage{Dir: t.TempDir()}, Each: 1000, Run: -1, All: -1}
		m := needing("letters", `{"bindings":{"filesystem":{"required":true}}}`)
		m = strings.Replace(m, `"properties":{`, `"properties":{"title":{"type":"string"},`, 1)
		name, err := json.Marshal(hostileText)
		g.must(err)
		m = regexp.MustCompile(`"display_name":"[^"]*"`).ReplaceAllLiteralString(m, `"display_name":`+string(name))
		g.install("letters", m, surveyor)
	}, func(t *testing.T, g *ground) {
		a := &target{ground: g, base: "http://" + g.config.Listener.Addr().String()}
		g.t = t
		a.furnish(guard)
		pages, forms := a.hostileTexts()
		crossSite := a.crossSite(forms)
		redirects := a.redirects()
		operations, refused := a.operations()
		t.Attr("result", fmt.Sprintf("%d answers to operations by 7 kinds of bearer, all %d that had to be refused were; "+
			"%d cross-site requests refused; %d redirects stay here; hostile texts on %d pages, none raw",
			operations, refused, crossSite, redirects, pages))
	})
}

// furnish signs the owner in, makes a token of each kind, and names everything by hostile texts.
func (a *target) furnish(guard *auth.Auth) {
	a.t.Helper()
	ctx := a.t.Context()
	password, err := guard.Setup(ctx, "")
	a.must(err)
	signed := httptest.NewRecorder()
	a.must(guard.SignIn(signed, httptest.NewRequest(http.MethodPost, a.base+"/login", nil), password))
	a.session = signed.Result().Cookies()
	a.bearers = map[string]string{"none": "", "junk": "pdpp_ot_" + strings.Repeat("A", 52)}
	for _, scope := range reply.Scopes {
		_, token, err := guard.CreateToken(ctx, auth.NewToken{Label: hostileText, Scopes: []string{string(scope)}})
		a.must(err)
		a.bearers[string(scope)] = token
	}
	owner := api.NewClient(a.base, a.bearers[string(reply.ScopeAll)], nil)
	code, err := owner.AddDevice(ctx, api.NewDevice{ConnectorID: "letters"})
	a.must(err)
	device := &wire.Client{BaseURL: a.base}
	a.device, err = device.Enroll(ctx, wire.Enrollment{Code: code.Code, DeviceLabel: hostileText})
	a.must(err)
	a.bearers["device"] = a.device.DeviceToken
	device.DeviceID, device.Token = a.device.DeviceID, a.device.DeviceToken
	var records []slice.Record
	for i := range 3 {
		key := fmt.Sprint(i, hostileText)
		data, err := json.Marshal(map[string]any{"id": key, "title": hostileText})
		a.must(err)
		records = append(records, slice.Record{Stream: "beds", Key: key, Data: data, EmittedAt: "2026-01-02T03:04:05Z"})
	}
	batch := wire.Batch{SourceInstanceID: a.device.SourceInstanceID, ConnectorID: "letters", BatchID: "b1", BatchSeq: 1}
	batch.Records = records
	result, err := device.Ingest(ctx, batch)
	a.must(err)
	if result.Accepted != 3 {
		a.t.Fatalf("the batch: %+v", result)
	}
	connection := a.device.ConnectorInstanceID
	a.must(owner.Rename(ctx, connection, hostileText))
	_, token, err := owner.CreateGrant(ctx, api.NewGrant{ClientName: hostileText, Purpose: hostileText, Mode: "continuous",
		Streams: []api.GrantStream{{ConnectionID: connection, Stream: "beds"}}})
	a.must(err)
	a.bearers["grant"] = token
	_, err = owner.SaveSearch(ctx, api.NewSearch{Name: hostileText, Address: "/search?q=" + url.QueryEscape(hostileText)})
	a.must(err)
}

var (
	links   = regexp.MustCompile(`(?:href|hx-get)="(/[^"#]*)`)
	actions = regexp.MustCompile(`(?:action|hx-post|hx-put|hx-delete)="(/[^"#]*)`)
	varying = regexp.MustCompile(`[?].*`)
)

// hostileTexts reads every page that the links of others lead to, and collects the addresses of forms.
func (a *target) hostileTexts() (pages int, forms []string) {
	a.t.Helper()
	record := "/thing/" + a.device.ConnectorInstanceID + "/beds/0" + url.PathEscape(hostileText)
	waiting := []string{"/", "/search?q=alert", record}
	seen, kinds, known := map[string]bool{}, map[string]int{}, map[string]bool{}
	shown := 0
	for len(waiting) > 0 {
		path := waiting[0]
		waiting = waiting[1:]
		kind := varying.ReplaceAllString(path, "")
		if seen[path] || kinds[kind] == 4 || strings.HasPrefix(path, "/logout") || strings.HasPrefix(path, "/assets/") {
			continue
		}
		seen[path] = true
		kinds[kind]++
		status, body, to := a.asking(http.MethodGet, path, "Cookie", "")
		if status >= http.StatusInternalServerError || status == http.StatusUnauthorized {
			a.t.Errorf("%s: %d", path, status)
		}
		if strings.HasPrefix(to, "/") {
			waiting = append(waiting, to)
		}
		pages++
		for _, raw := range []string{"<script>alert", "<img src=x", `href="javascript:`} {
			if strings.Contains(body, raw) && strings.Contains(body, "<html") {
				a.t.Errorf("%s holds %s", path, raw)
			}
		}
		if strings.Contains(body, "&lt;script&gt;alert") {
			shown++
		}
		for _, link := range links.FindAllStringSubmatch(body, -1) {
			waiting = append(waiting, html.UnescapeString(link[1]))
		}
		for _, form := range actions.FindAllStringSubmatch(body, -1) {
			if to := html.UnescapeString(form[1]); !known[varying.ReplaceAllString(to, "")] {
				known[varying.ReplaceAllString(to, "")] = true
				forms = append(forms, to)
			}
		}
	}
	if pages < 30 || shown < 10 || len(forms) < 10 {
		a.t.Errorf("%d pages were read, %d show the texts, with %d forms", pages, shown, len(forms))
	}
	return pages, forms
}

// filled is the address of an operation with ids of what is there.
func (a *target) filled(path string) string {
	return strings.NewReplacer("{device}", a.device.DeviceID, "{source}", a.device.SourceInstanceID, "{stream}", "beds",
		"{connection}", "none", "{id}", "none", "{key}", "k").Replace(path)
}

// crossSite sends every form and every operation that changes something from pages of other sites, with the owner's
// session.
func (a *target) crossSite(forms []string) (tried int) {
	a.t.Helper()
	kinds := [][]string{
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
	}
	type address struct{ method, path string }
	var all []address
	for _, form := range forms {
		all = append(all, address{http.MethodPost, form})
	}
	for _, op := range operations(a.t) {
		if op.method != http.MethodGet && !op.public {
			all = append(all, address{op.method, a.filled(op.path)})
		}
	}
	for _, to := range all {
		for _, kind := range kinds {
			tried++
			status, body, _ := a.asking(to.method, to.path, append(kind, "Cookie", "")...)
			if status != http.StatusForbidden || !strings.Contains(body, "cross_origin_request") {
				a.t.Errorf("%s %s from %v: %d %.200s", to.method, to.path, kind, status, body)
			}
		}
	}
	if status, _, _ := a.asking(http.MethodGet, "/", "Cookie", ""); status != http.StatusOK {
		a.t.Errorf("the session was ended: %d", status)
	}
	return tried
}

// redirects asks pages that send a browser on to lead elsewhere.
func (a *target) redirects() (tried int) {
	a.t.Helper()
	for _, next := range []string{
		"https://evil.example/", "//evil.example", `/\evil.example`, `\\evil.example`, "/\t/evil.example", "///evil.example",
		"javascript:alert(1)", "evil.example", "/a\r\nSet-Cookie: x=y", "/%2f%2fevil.example", "http:evil.example",
	} {
		quoted := url.QueryEscape(next)
		for _, page := range []string{"/login?next=" + quoted, "/confirm?next=" + quoted, "/search?next=" + quoted,
			"/oauth/authorize?client_id=x&redirect_uri=" + quoted, "/" + strings.TrimLeft(url.PathEscape(next), "/")} {
			for _, headers := range [][]string{{"Cookie", ""}, nil} {
				tried++
				_, _, to := a.asking(http.MethodGet, page, headers...)
				at, err := url.Parse(to)
				if err != nil || at.Host != "" || at.Scheme != "" || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) {
					a.t.Errorf("%s leads to %q", page, to)
				}
			}
		}
	}
	return tried
}

// operations asks for every operation with every kind of bearer. A token for everything is left out: it may do all.
func (a *target) operations() (tried, refused int) {
	a.t.Helper()
	scopes := map[string]reply.Scope{}
	for _, route := range routes.Routes(nil, nil) {
		scopes[route.Pattern] = route.Scope
	}
	for _, op := range operations(a.t) {
		scope, owners := scopes[op.method+" "+op.path]
		if strings.HasSuffix(op.path, "/self-revoke") || strings.HasSuffix(op.path, "/token") ||
			op.path == wire.Root+"/enroll" {
			continue // it ends or replaces the token, or takes a code instead of one
		}
		for _, who := range []string{"none", "junk", "grant", "device", "read", "run", "manage"} {
			may := op.public
			switch {
			case owners:
				may = may || who == string(scope)
			case strings.HasPrefix(op.path, wire.Root+"/"):
				may = may || who == "device"
			case strings.HasPrefix(op.path, "/v1/event-subscriptions"):
				may = may || who == "grant"
			default:
				may = may || who == "grant" || who == "read"
			}
			headers := []string{wire.ProtocolHeader, wire.ProtocolVersion}
			if token := a.bearers[who]; token != "" {
				headers = append(headers, "Authorization", "Bearer "+token)
			}
			tried++
			status, body, _ := a.asking(op.method, a.filled(op.path), headers...)
			denied := status == http.StatusUnauthorized || status == http.StatusForbidden
			if status >= http.StatusInternalServerError || !may && !denied || may && denied && !op.public && who != "grant" {
				a.t.Errorf("%s %s with %s: %d %.200s", op.method, op.path, who, status, body)
			}
			if !may && denied {
				refused++
			}
		}
	}
	if tried < 900 || refused < tried/2 {
		a.t.Errorf("%d answers, %d of them refused", tried, refused)
	}
	return tried, refused
}
