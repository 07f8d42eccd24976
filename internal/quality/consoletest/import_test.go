package consoletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// saved is a table of Pocket's with these links.
func saved(links ...string) string {
	table := "title,url,time_added,tags,status\n"
	for i, link := range links {
		table += fmt.Sprintf("About %s,https://%s.example/,%d,,unread\n", link, link, 1700000000+i)
	}
	return table
}

// chooses puts a file into the form of the page, as a person who drops it there.
func (b *tab) chooses(name, content string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { const input = document.querySelector("form[data-upload] input[type=file]"), all = new DataTransfer();
		all.items.add(new File([%q], %q)); input.files = all.files; input.dispatchEvent(new Event("change")); return true; })()`, content, name))
}

// isRead waits until the receipt on the shown page lists what was new.
func (b *tab) isRead() {
	b.t.Helper()
	b.until(`location.pathname.includes("/files/imp_")`)
	b.until(`document.querySelector("[data-receipt][data-status=read]") !== null`)
}

// form is the body of a form with one file, as a browser without script sends it.
func form(name, content string) (header map[string]string, body string) {
	return map[string]string{"Content-Type": "multipart/form-data; boundary=xx"},
		"--xx\r\nContent-Disposition: form-data; name=\"files\"; filename=\"" + name +
			"\"\r\nContent-Type: text/csv\r\n\r\n" + content + "\r\n--xx--\r\n"
}

// with adds to headers.
func with(header map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for k, v := range header {
		out[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// An owner uploads an export in the browser. The upload creates a connection, a run reads it
// automatically, and a receipt shows what was new.
//
// A repeated file shows when it was imported, and a wrong file shows which files are accepted. A
// second file adds what is new. Undoing the first import deletes only the records that no other
// import has. The command line and a browser without script do the same, and only the owner can do
// it.
func TestImportJourney(t *testing.T) {
	t.Parallel()
	h := found(t)
	h.open("serve")
	t.Run("allow", func(t *testing.T) { t.Parallel(); allow(t, h) })
	b := h.signIn(t)
	b.visit("/sources/add/pocket")
	b.click(`[data-place=upload]`)
	b.wait(`form[data-upload]`)
	b.shoot("add-file")
	b.chooses("part_000000.csv", saved("oak", "elm", "fir"))
	if words := b.text("[data-chosen]"); !strings.Contains(words, "part_000000.csv") {
		t.Errorf("chosen is %q", words)
	}
	b.click(`form[data-upload] button`)
	b.isRead()
	if words := b.text("[data-receipt]"); !strings.Contains(words, "3 records") {
		t.Errorf("the receipt does not say what was new:\n%s", words)
	}
	b.shoot("receipt")
	b.visit("/sources/cin_pocket_1")
	b.until(`document.querySelector("#files [data-status=read]") !== null`)
	if words := b.text("#files"); !strings.Contains(words, "Imported. 3 new of 3 records.") ||
		!strings.Contains(words, "Add another file") {
		t.Errorf("the connection says %q", words)
	}
	b.shoot("connection-files")

	b.visit("/sources/cin_pocket_1/files")
	b.chooses("other name.csv", saved("oak", "elm", "fir"))
	b.click(`form[data-upload] button`)
	b.until(`location.pathname.includes("/files/imp_")`)
	if words := b.text("main"); !strings.Contains(words, "already imported on") {
		t.Errorf("the same file again:\n%s", words)
	}
	b.visit("/sources/cin_pocket_1/files")
	b.chooses("IMG_2044.HEIC", "a picture")
	b.click(`form[data-upload] button`)
	b.wait(`[data-upload-error]`)
	if words := b.text("[data-upload-error]"); !strings.Contains(words, "Pocket does not read IMG_2044.HEIC.") ||
		!strings.Contains(words, ".csv") {
		t.Errorf("a picture: %q", words)
	}
	b.shoot("files-refused")
	b.chooses("later.csv", saved("oak", "yew"))
	b.click(`form[data-upload] button`)
	b.isRead()
	b.forgive("415 (Unsupported Media Type)", 1)

	// The command, here and over the server, and a form without script.
	path := filepath.Join(t.TempDir(), "by command.csv")
	if err := os.WriteFile(path, []byte(saved("ash")), 0o600); err != nil {
		t.Fatal(err)
	}
	if message := h.pdpp("import", "cin_pocket_1", path); !strings.Contains(message, "by command.csv is received") {
		t.Errorf("pdpp import prints %q", message)
	}
	owner := map[string]string{"Cookie": h.session(), "Origin": h.ready.URL, "Sec-Fetch-Site": "same-origin"}
	header, body := form("../../plain.csv", saved("box"))
	status, to, _ := h.send(http.MethodPost, "/sources/cin_pocket_1/files",
		with(header, "Cookie", owner["Cookie"], "Origin", h.ready.URL, "Sec-Fetch-Site", "same-origin"), body)
	if status != http.StatusSeeOther || !strings.HasPrefix(to, "/sources/cin_pocket_1/files/imp_") {
		t.Errorf("without script: %d to %q", status, to)
	}
	receipts := func() (all []api.Import) {
		var got struct {
			Imports []api.Import `json:"imports"`
		}
		if err := json.Unmarshal([]byte(h.pdpp("imports", "cin_pocket_1", "--json")), &got); err != nil {
			t.Fatal(err)
		}
		return got.Imports
	}
	b.eventually("every file is read", func() bool {
		all := receipts()
		return len(all) == 4 && !slices.ContainsFunc(all, func(i api.Import) bool { return i.Status != api.ImportRead })
	})
	all := receipts()
	slices.Reverse(all)
	var names []string
	for _, i := range all {
		names = append(names, fmt.Sprintf("%s %d %d", i.Name, i.New, i.Same+i.Changed))
	}
	if got, want := strings.Join(names, "; "),
		"part_000000.csv 3 0; later.csv 1 1; by command.csv 1 0; plain.csv 1 0"; got != want {
		t.Errorf("receipts: %s, want %s", got, want)
	}

	// Strangers and other origins are refused.
	header, body = form("evil.csv", saved("evil"))
	for name, with := range map[string]map[string]string{
		"a stranger": header,
		"another page": with(header, "Cookie", owner["Cookie"], "Origin", "https://evil.example", "Sec-Fetch-Site",
			"cross-site"),
		"a session that over": with(header, "Cookie", h.endedSession(), "Origin", h.ready.URL, "Sec-Fetch-Site",
			"same-origin"),
		"a grant":         with(header, "Authorization", "Bearer "+h.grantTo("cin_pocket_1/items")),
		"a reading token": with(header, "Authorization", "Bearer "+h.token("read")),
	} {
		for _, at := range []string{"/sources/cin_pocket_1/files", "/sources/add/pocket/files",
			"/_ref/connections/cin_pocket_1/imports?name=evil.csv", "/_ref/imports/" + all[0].ID + "/undo",
			"/sources/cin_pocket_1/files/" + all[0].ID + "/undo"} {
			if status, to, _ := h.send(http.MethodPost, at, with, body); status < 400 && !strings.HasPrefix(to, "/login") {
				t.Errorf("%s: POST %s is %d to %q", name, at, status, to)
			}
		}
	}
	if got := receipts(); len(got) != 4 {
		t.Errorf("strangers left %+v", got)
	}

	// The first file is taken back. The oak came from the second one too.
	b.visit("/sources/cin_pocket_1/files/" + all[0].ID)
	b.click("#undo summary")
	b.shoot("receipt-undo")
	if words := b.text("[data-undo-words]"); !strings.Contains(words,
		"2 records came only from this file and are deleted") || !strings.Contains(words, "1 record stays") {
		t.Errorf("undoing asks %q", words)
	}
	b.click("#undo form button")
	b.until(`document.querySelector("[data-receipt][data-status=undone]") !== null`)
	if words := b.text("main"); !strings.Contains(words, "2 records were deleted.") {
		t.Errorf("undone:\n%s", words)
	}
	if left, err := filepath.Glob(filepath.Join(h.home, "imports", "cin_pocket_1", "*")); err != nil || len(left) != 3 {
		t.Errorf("in the folder are %v, %v", left, err)
	}
	var items []string
	for line := range strings.Lines(h.pdpp("export", "items", "--connection", "cin_pocket_1")) {
		var r struct {
			Data struct {
				URL string `json:"url"`
			} `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		items = append(items, r.Data.URL)
	}
	slices.Sort(items)
	if got := strings.Join(items,
		" "); got != "https://ash.example/ https://box.example/ https://oak.example/ https://yew.example/" {
		t.Errorf("left are %s", got)
	}
	if sentence := h.pdpp("audit"); !strings.Contains(sentence, "You took back what came from part_000000.csv") ||
		!strings.Contains(sentence, "You imported part_000000.csv") {
		t.Errorf("the trail has\n%s", sentence)
	}
	b.quiet()
}

// allow: the page on which an owner signs in at a provider reads at both widths and in both themes, with
// the steps that register this server there.
func allow(t *testing.T, h *house) {
	b := h.signIn(t)
	b.visit("/sources/add/spotify")
	b.submit(`form[data-add] input`)
	b.until(`location.pathname === "/sources/cin_spotify_1/allow"`)
	b.click(`form[action$="/allow"] button.solid`)
	b.wait(`details.inspect[open] form[action$="/allow/app"]`)
	b.shoot("allow-app")
	b.forgive("409 (Conflict)", 1) // the server has no app there yet
	b.quiet()
}

// grantTo creates a grant to read a stream and returns its token.
func (h *house) grantTo(stream string) string {
	h.t.Helper()
	var made struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal([]byte(h.pdpp("grants", "create", "Reader", "--stream", stream, "--json")),
		&made); err != nil || made.Token == "" {
		h.t.Fatal(err, made)
	}
	return made.Token
}
