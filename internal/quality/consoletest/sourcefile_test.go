package consoletest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shelfFile declares a source of an invented provider. Extra streams follow those of the file.
func shelfFile(extra string) string {
	return `version: 1.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [Books]}
metadata: {pdpp: {display_name: Reading list}}
streams:
  - type: DeclarativeStream
    name: Books
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: "{{ config['server'] }}"
        path: /books
        http_method: GET
        authenticator: {type: BearerAuthenticator, api_token: "{{ config['token'] }}"}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
    schema_loader:
      type: InlineSchemaLoader
      schema: {type: object, properties: {id: {type: string}, title: {type: string}}}
` + extra + `spec:
  type: Spec
  connection_specification:
    type: object
    required: [server, token]
    properties:
      server: {type: string, title: Server, order: 0}
      token: {type: string, title: Token, airbyte_secret: true, order: 1}
`
}

// exports is a stream that cannot run, and shelves one that sends POST requests to another host.
const (
	exports = `  - type: DeclarativeStream
    name: Exports
    primary_key: id
    retriever: {type: CustomRetriever, class_name: source_books.Retriever}
`
	shelves = `  - type: DeclarativeStream
    name: Shelves
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: https://api.books.example
        path: /shelves
        http_method: POST
        request_parameters: {key: "{{ config['token'] }}"}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
    schema_loader:
      type: InlineSchemaLoader
      schema: {type: object, properties: {id: {type: string}}}
`
)

// givesSource puts a source file into the form and sends it.
func (b *tab) givesSource(name, content string) {
	b.t.Helper()
	b.wait(`form[data-source-file]`)
	eval[bool](b, fmt.Sprintf(`(() => { const input = document.querySelector("#source-file"), all = new DataTransfer();
		all.items.add(new File([%q], %q)); input.files = all.files; return true; })()`, content, name))
	b.click(`form[data-source-file] button`)
}

// An owner adds a source from a file: they see what it would do, add it, connect it and read its records. After the
// file was edited, the source stops until the owner has seen and accepted the difference.
func TestSourceFromFile(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer kiwi-7731" {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprint(w, `[{"id":"b1","title":"The Reed Bed"},{"id":"b2","title":"Low Water"}]`)
	}))
	t.Cleanup(provider.Close)
	h := found(t)
	h.open("serve")
	installed := filepath.Join(h.home, "connectors", "books", "source.yaml")
	b := h.signIn(t)
	b.visit("/sources/add")
	b.click(`[data-from-file]`)
	b.wait(`form[data-source-file]`)
	b.shoot("from-file")

	// What cannot be used is named, and nothing is stored.
	b.givesSource("books.yaml", strings.ReplaceAll(shelfFile(""), "name: Books", "name: Books\n"+
		"    transformations:\n      - type: AddFields\n        fields:\n"+
		"          - {type: AddedFieldDefinition, path: [stolen], value: \"{{ config['token'] }}\"}"))
	b.wait(`[data-file-problem]`)
	if words := b.text("[data-file-problem]"); !strings.Contains(words, "Nothing was added.") ||
		!strings.Contains(words, "streams[0]") || !strings.Contains(words, "puts the secret setting token into a record") {
		t.Errorf("a file that stores a secret: %q", words)
	}
	b.shoot("from-file-problem")
	b.givesSource("github.yaml", shelfFile(""))
	b.until(`document.querySelector("[data-file-problem]")?.innerText.includes("built-in source")`)
	b.givesSource("books.yaml", "streams: [unclosed")
	b.until(`document.querySelector("[data-file-problem]")?.innerText.includes("is not valid YAML")`)
	b.forgive("422 (Unprocessable Entity)", 3)

	b.givesSource("books.yaml", shelfFile(exports))
	b.wait(`[data-review]`)
	if words := b.text("main"); !strings.Contains(words, "The host that you enter as Server") ||
		!strings.Contains(words, "Token, in the sign-in of requests to these hosts only") ||
		!strings.Contains(words, "Exports: it uses CustomRetriever") {
		t.Errorf("the review shows\n%s", words)
	}
	b.shoot("source-review")
	if _, err := os.Stat(filepath.Join(h.home, "connectors")); err == nil {
		t.Error("something is stored before the owner confirmed it")
	}
	b.click(`form[data-confirm-file] button`)
	b.until(`location.pathname === "/sources/add/books"`)
	b.shoot("source-connect")

	// A private address needs the owner's word.
	b.fill(`input[name="field.server"]`, provider.URL)
	b.fill(`input[name="field.token"]`, "kiwi-7731")
	b.submit(`input[name="field.server"]`)
	b.until(`document.querySelector(".error")?.innerText.includes("tick \"This is my own server\"")`)
	b.forgive("400 (Bad Request)", 1)
	b.fill(`input[name="field.token"]`, "kiwi-7731")
	b.click(`input[name="field.pdpp_own_server"]`)
	b.submit(`input[name="field.server"]`)
	b.until(`location.pathname === "/sources/cin_books_1"`)
	b.eventually("the first run succeeds", func() bool {
		return strings.Contains(h.pdpp("runs", "--json"), `"succeeded"`)
	})
	if answer := h.pdpp("records", "--json", "books"); !strings.Contains(answer, "The Reed Bed") {
		t.Errorf("the records are %s", answer)
	}

	// The file is edited: the source stops, and its page leads to the difference.
	if err := os.WriteFile(installed, []byte(shelfFile(shelves)), 0o644); err != nil {
		t.Fatal(err)
	}
	b.visit("/sources/cin_books_1")
	b.wait(`[data-changed-file]`)
	if pill := b.text("main .pill"); pill != "Can't collect" {
		t.Errorf("right after the edit the source is shown as %q", pill)
	}
	b.shoot("source-stopped")
	b.click(`[data-changed-file]`)
	b.wait(`[data-changes]`)
	words := b.text("[data-changes]")
	for _, want := range []string{"Talks to api.books.example.", "Sends the secret Token in the query.",
		"Sends POST requests for Shelves", "Collects Shelves.", "No longer lists Exports"} {
		if !strings.Contains(words, want) {
			t.Errorf("the difference lacks %q:\n%s", want, words)
		}
	}
	b.shoot("source-changed")

	// The file of the review is the one that is accepted.
	if err := os.WriteFile(installed, []byte(shelfFile("")), 0o644); err != nil {
		t.Fatal(err)
	}
	b.click(`form[data-confirm-file] button`)
	b.until(`document.querySelector("[data-file-problem]")?.innerText.includes("not the file that was reviewed")`)
	b.forgive("409 (Conflict)", 1)
	b.visit("/sources/add/from-file?name=books")
	b.click(`form[data-confirm-file] button`)
	b.until(`location.pathname === "/sources/cin_books_1"`)
	b.eventually("it runs again", func() bool {
		b.visit("/sources/cin_books_1")
		return !b.has(`[data-changed-file]`)
	})

	// Removing it ends its connection and keeps its records.
	b.visit("/sources/add/from-file")
	b.wait(`[data-added-source="books"]`)
	b.shoot("source-files")
	b.click(`[data-added-source="books"] [data-remove-source]`)
	b.wait(`form[data-removal]`)
	if words := b.text("main"); !strings.Contains(words, "1 connection ends") || !strings.Contains(words,
		"Reading list: 2 records stay. It collects no more") {
		t.Errorf("the removal shows\n%s", words)
	}
	b.shoot("source-remove")
	b.click(`form[data-removal] button`)
	b.until(`location.pathname === "/sources/add/from-file" && !document.querySelector("[data-added-sources]")`)
	if _, err := os.Stat(filepath.Dir(installed)); err == nil {
		t.Error("the folder of the removed source is still there")
	}
	b.visit("/settings/deletions")
	if words := b.text(`[data-connection="cin_books_1"]`); !strings.Contains(words, "2 records are still here.") {
		t.Errorf("after the removal: %s", words)
	}
	b.quiet()

	strangersAddNoSource(t, h)
}

// strangersAddNoSource: only the owner adds sources, within the bound.
func strangersAddNoSource(t *testing.T, h *house) {
	header := map[string]string{"Content-Type": "multipart/form-data; boundary=xx"}
	body := func(content string) string {
		return "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"evil.yaml\"\r\n\r\n" + content +
			"\r\n--xx--\r\n"
	}
	for name, with := range map[string]map[string]string{
		"a stranger": header,
		"another page": with(header, "Cookie", h.session(), "Origin", "https://evil.example", "Sec-Fetch-Site",
			"cross-site"),
		"a managing token": with(header, "Authorization", "Bearer "+h.token("manage")),
	} {
		for _, at := range []string{"/sources/add/from-file", "/sources/add/from-file/confirm",
			"/sources/add/from-file/remove", "/_ref/source-files?name=evil"} {
			if status, to, _ := h.send(http.MethodPost, at, with, body(shelfFile(""))); status < 400 &&
				!strings.HasPrefix(to, "/login") {
				t.Errorf("%s: POST %s is %d to %q", name, at, status, to)
			}
		}
	}
	owner := with(header, "Cookie", h.session(), "Origin", h.ready.URL, "Sec-Fetch-Site", "same-origin")
	for _, size := range []int{4<<20 + 1, 9 << 20} {
		status, _, answer := h.send(http.MethodPost, "/sources/add/from-file", owner, body(strings.Repeat("a", size)))
		if status != http.StatusRequestEntityTooLarge || !strings.Contains(string(answer), "larger than 4 MiB") {
			t.Errorf("a file of %d bytes: %d", size, status)
		}
	}
	if _, err := os.Stat(filepath.Join(h.home, "connectors", "evil")); err == nil {
		t.Error("a stranger added a source")
	}
}
