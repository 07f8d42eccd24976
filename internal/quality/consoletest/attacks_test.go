package consoletest

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// handOff is a question that a run asks on its page, and where it can be reached.
type handOff struct {
	h             *house
	run, question string
}

// handOff finds what is asked, with an owner's token.
func (h *house) handOff(token string) handOff {
	h.t.Helper()
	var runs struct {
		Data []struct {
			ID string `json:"run_id"`
		} `json:"data"`
	}
	var asked struct {
		ID string `json:"interaction_id"`
	}
	h.read("/_ref/runs", token, &runs)
	if len(runs.Data) != 1 {
		h.t.Fatalf("%d runs", len(runs.Data))
	}
	h.read("/_ref/runs/"+runs.Data[0].ID+"/interaction", token, &asked)
	if asked.ID == "" {
		h.t.Fatal("nothing is asked")
	}
	return handOff{h, runs.Data[0].ID, asked.ID}
}

// read gets what an owner's token may read.
func (h *house) read(path, token string, into any) {
	h.t.Helper()
	status, _, body := h.send(http.MethodGet, path, map[string]string{"Authorization": "Bearer " + token}, "")
	if err := json.Unmarshal(body, into); err != nil || status != http.StatusOK {
		h.t.Fatalf("GET %s: %d, %v, %s", path, status, err, body)
	}
}

// send makes one request, and follows no redirect.
func (h *house) send(method, path string, header map[string]string, body string) (status int, location string,
	answer []byte) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.ready.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	if name := header["Host"]; name != "" {
		req.Host = name
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Location"), answer
}

// dial opens a socket, and closes it again.
func (h *house) dial(path string, header map[string]string) (status int, answer http.Header) {
	h.t.Helper()
	headers := http.Header{}
	for k, v := range header {
		headers.Set(k, v)
	}
	conn, resp, err := websocket.Dial(h.t.Context(), strings.Replace(h.ready.URL, "http", "ws", 1)+path,
		&websocket.DialOptions{HTTPHeader: headers, Host: header["Host"]})
	if resp == nil {
		h.t.Fatal(err)
	}
	if conn != nil {
		_ = conn.CloseNow()
	}
	return resp.StatusCode, resp.Header
}

// deviceToken enrolls a device and returns its token.
func (h *house) deviceToken() string {
	h.t.Helper()
	var code struct {
		Code string `json:"enrollment_code"`
	}
	if err := json.Unmarshal([]byte(h.pdpp("devices", "add", "claude_code", "--json")), &code); err != nil ||
		code.Code == "" {
		h.t.Fatal(err, code)
	}
	asked, err := json.Marshal(wire.Enrollment{Code: code.Code, DeviceLabel: "Laptop"})
	if err != nil {
		h.t.Fatal(err)
	}
	status, _, body := h.send(http.MethodPost, wire.Root+"/enroll",
		map[string]string{"Content-Type": "application/json", wire.ProtocolHeader: wire.ProtocolVersion}, string(asked))
	var in wire.Enrolled
	if err := json.Unmarshal(body, &in); err != nil || in.DeviceToken == "" {
		h.t.Fatalf("enrolled: %d, %v, %s", status, err, body)
	}
	return in.DeviceToken
}

// grantToken creates a grant to read conversations and returns its token.
func (h *house) grantToken() string { h.t.Helper(); return h.grantTo("cin_chatgpt_1/conversations") }

// endedSession is the cookie of a session that was signed out.
func (h *house) endedSession() string {
	h.t.Helper()
	cookie := h.session()
	if status, _, body := h.send(http.MethodPost, "/logout",
		map[string]string{"Cookie": cookie, "Origin": h.ready.URL, "Sec-Fetch-Site": "same-origin"}, ""); status >= 400 {
		h.t.Fatalf("sign out: %d, %s", status, body)
	}
	return cookie
}

// ticket makes a worker's ticket for the question, as a worker does.
func (o handOff) ticket(secret string) error {
	st, err := sqlite.Open(o.h.t.Context(), filepath.Join(o.h.home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	digest, now := sha256.Sum256([]byte(secret)), time.Now()
	return st.PutPageTicket(o.h.t.Context(), o.run, o.question, digest[:], now.Add(time.Minute), now)
}

func (o handOff) worker() string { return "/_ref/surfaces/" + o.run + "/" + o.question + "/worker" }

// attacks tries every address of a run's page and of its question as each caller that is not the
// owner in their own window. Each request is refused, and nothing changes.
func (o handOff) attacks(t *testing.T, owner, reading string) {
	h := o.h
	bearer := func(token string) map[string]string {
		return map[string]string{"Origin": h.ready.URL, "Authorization": "Bearer " + token}
	}
	cookie := h.session()
	with := func(origin, host string) map[string]string {
		out := map[string]string{"Origin": origin, "Cookie": cookie}
		if host != "" {
			out["Host"] = host
		}
		return out
	}
	who := map[string]map[string]string{
		"a stranger":                {"Origin": h.ready.URL},
		"a session that nobody has": {"Origin": h.ready.URL, "Cookie": "pdpp_session=" + strings.Repeat("A", 43)},
		"a session that is over":    {"Origin": h.ready.URL, "Cookie": h.endedSession()},
		"an owner token":            bearer(owner),
		"an owner token to read":    bearer(reading),
		"a grant":                   bearer(h.grantToken()),
		"a device":                  bearer(h.deviceToken()),
		"another origin":            with("https://elsewhere.example", ""),
		"another port":              with("http://127.0.0.1:1", ""),
		"no origin":                 {"Cookie": cookie},
		"another name":              with("http://rebound.example", "rebound.example"),
	}
	answer := `{"interaction_id":"` + o.question + `","status":"success"}`
	form := url.Values{"interaction_id": {o.question}, "status": {"success"}}.Encode()
	// a browser names it with every form and socket; what is none holds the cookie by the owner's hand
	const program = "no origin"
	roads := map[string]struct {
		method, path, kind, body string
		socket                   bool
		open                     []string // callers that may open it
	}{
		"the stream":      {path: signInPage + "/stream", socket: true},
		"a worker's road": {path: o.worker(), socket: true},
		// a link may lead there
		"the page": {method: http.MethodGet, path: signInPage,
			open: []string{"another origin", "another port", program}},
		"opening it": {method: http.MethodPost, path: signInPage, kind: formKind, open: []string{program}},
		"an answer": {method: http.MethodPost, path: signInPage + "/answer", kind: formKind, body: form,
			open: []string{program}},
		"the question": {method: http.MethodGet, path: "/_ref/runs/" + o.run + "/interaction",
			open: []string{"an owner token", "an owner token to read", "another origin", "another port", program}},
		"an answer by JSON": {method: http.MethodPost, path: "/_ref/runs/" + o.run + "/interaction", kind: "application/json",
			body: answer, open: []string{"an owner token", program}},
	}
	for name, header := range who {
		for road, r := range roads {
			if slices.Contains(r.open, name) {
				continue
			}
			var status int
			var location string
			if r.socket {
				status, _ = h.dial(r.path, header)
			} else {
				sent := map[string]string{"Content-Type": r.kind}
				for k, v := range header {
					sent[k] = v
				}
				status, location, _ = h.send(r.method, r.path, sent, r.body)
			}
			refused := status == http.StatusUnauthorized || status == http.StatusForbidden ||
				status == http.StatusMisdirectedRequest ||
				status == http.StatusSeeOther && strings.HasPrefix(location, "/login")
			if !refused {
				t.Errorf("%s by %s: %d %s", road, name, status, location)
			}
		}
	}
	if status, _ := h.dial(signInPage+"/stream", with(h.ready.URL, "")); status != http.StatusSwitchingProtocols {
		t.Errorf("the owner: %d", status)
	}
	if now := h.handOff(owner); now != o {
		t.Errorf("what is asked is %+v, it was %+v", now, o)
	}
}

// replays checks that a worker's ticket opens only its own question, and only once. A forged
// ticket is refused.
func (o handOff) replays(t *testing.T) {
	secret := "one ticket of a worker"
	if err := o.ticket(secret); err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"Authorization": "Bearer " + secret}
	elsewhere := handOff{o.h, o.run, "q-of-nobody"}
	for _, c := range []struct {
		name, path, secret string
		want               int
	}{
		{"another question", elsewhere.worker(), secret, http.StatusUnauthorized},
		{"another secret", o.worker(), secret + "x", http.StatusUnauthorized},
		{"the first time", o.worker(), secret, http.StatusSwitchingProtocols},
		{"again", o.worker(), secret, http.StatusUnauthorized},
	} {
		header["Authorization"] = "Bearer " + c.secret
		if status, _ := o.h.dial(c.path, header); status != c.want {
			t.Errorf("a ticket, %s: %d, want %d", c.name, status, c.want)
		}
	}
}

// closes cancels the sign-in. Nothing leads to the closed question any more, and no run is
// started for it.
func (o handOff) closes(t *testing.T, owner string) {
	h := o.h
	signed := map[string]string{"Authorization": "Bearer " + owner, "Content-Type": "application/json"}
	path, body := "/_ref/runs/"+o.run+"/interaction", `{"interaction_id":"`+o.question+`","status":"`
	if status, _, content := h.send(http.MethodPost, path, signed, body+`cancelled"}`); status != http.StatusAccepted {
		t.Fatalf("cancelled: %d, %s", status, content)
	}
	var list struct {
		Items []struct {
			Kind string `json:"kind"`
		} `json:"attention"`
	}
	if !within(patience, func() bool {
		h.read("/_ref/attention", owner, &list)
		return len(list.Items) == 1 && list.Items[0].Kind == "reauth"
	}) {
		t.Fatalf("what is asked of the owner: %+v", list)
	}
	if status, _, answer := h.send(http.MethodPost, path, signed, body+`success"}`); status != http.StatusNotFound {
		t.Errorf("an answer after the end: %d, %s", status, answer)
	}
	if err := o.ticket("a late one"); err == nil {
		t.Error("a ticket is made for what is closed")
	}
	if status, _ := h.dial(o.worker(),
		map[string]string{"Authorization": "Bearer a late one"}); status != http.StatusUnauthorized {
		t.Errorf("a worker after the end: %d", status)
	}
	var runs struct {
		Data []struct {
			ID string `json:"run_id"`
		} `json:"data"`
	}
	if h.read("/_ref/runs", owner, &runs); len(runs.Data) != 1 {
		t.Errorf("%d runs: another was started after a cancelled sign-in", len(runs.Data))
	}
}
