// Package sourcefile serves the pages on which an owner adds a source from a file: the form, the review of what the
// file would do or what changed in it, and the confirmation.
package sourcefile

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const (
	// confirmAddress is where the owner sends a reviewed file.
	confirmAddress = ui.SourceFileAddress + "/confirm"
	// largestFileForm bounds a form with a source file, as it is or packed, and its other fields.
	largestFileForm = 2 * review.MaxFile
	// longestSourceName bounds what is typed as the name of a source.
	longestSourceName = 200
	// leftOver is how many more bytes of a refused form are read, so that a browser that is still sending receives the
	// response.
	leftOver = 64 << 20
)

// Config is what the pages need. All members must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
}

type sourceFilePages struct {
	Config
	*ui.Responder
}

// Routes returns the routes. All of them require a recent proof of identity.
func Routes(c Config) []ui.Route {
	p := &sourceFilePages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	return []ui.Route{
		{Pattern: "GET " + ui.SourceFileAddress, Handler: http.HandlerFunc(p.fromFile), Confirm: true},
		{Pattern: "POST " + ui.SourceFileAddress, Handler: http.HandlerFunc(p.reviewFile), Confirm: true},
		{Pattern: "POST " + confirmAddress, Handler: http.HandlerFunc(p.addFromFile), Confirm: true},
		{Pattern: "GET " + removeAddress, Handler: http.HandlerFunc(p.askRemoval), Confirm: true},
		{Pattern: "POST " + removeAddress, Handler: http.HandlerFunc(p.remove), Confirm: true},
	}
}

// SendsFile reports whether a request sends a source file. The page that receives it bounds its length.
func SendsFile(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == ui.SourceFileAddress || r.URL.Path == confirmAddress) &&
		strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data")
}

// fromFilePage is the form that asks for a source file, and what is wrong with the file that was sent.
type fromFilePage struct {
	Name    string
	Problem *ui.FormProblem
	Added   []api.Connector // the sources that were added from a file
}

// lines returns the problems, one in each.
func (page *fromFilePage) lines() []string {
	if page.Problem == nil {
		return nil
	}
	return strings.Split(page.Problem.Text, "\n")
}

// reviewPage is what a source file would do. Nothing of it is stored: the page holds the file until it is confirmed.
type reviewPage struct {
	api.SourceReview
	Packed string // empty for the installed file
}

func (page *reviewPage) title() string {
	if page.Installed {
		return "What changed in " + page.DisplayName
	}
	return "Add " + page.DisplayName
}

func (page *reviewPage) lede() string {
	switch {
	case page.Same:
		return "This file is added already, and nothing in it changed."
	case page.Installed:
		return "The source does not run with this file until you accept it."
	}
	return "Nothing is stored yet. Look at what this file would do."
}

// fromFile asks for a file, or shows what changed in the file of an installed source.
func (p *sourceFilePages) fromFile(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	if name == "" {
		p.showFromFile(w, r, http.StatusOK, &fromFilePage{})
		return
	}
	reviewed, err := p.Owner.ReviewSourceFile(r.Context(), api.SourceFile{Name: name})
	if err != nil {
		p.showFileProblem(w, r, name, err)
		return
	}
	p.showReview(w, r, &reviewPage{SourceReview: reviewed})
}

func (p *sourceFilePages) showFromFile(w http.ResponseWriter, r *http.Request, status int, page *fromFilePage) {
	added, err := p.addedSources(r)
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	page.Added = added
	p.ShowPage(w, r, status, p.PageFrame(w, r, "Add a source from a file", "sources"), fromFileBody(page))
}

func (p *sourceFilePages) showFileProblem(w http.ResponseWriter, r *http.Request, name string, err error) {
	found := p.ProblemOf(w, r, err)
	p.showFromFile(w, r, found.Status, &fromFilePage{Name: name, Problem: &found})
}

func (p *sourceFilePages) showReview(w http.ResponseWriter, r *http.Request, page *reviewPage) {
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, page.title(), "sources"), reviewBody(page))
}

// reviewFile shows what the sent file would do.
func (p *sourceFilePages) reviewFile(w http.ResponseWriter, r *http.Request) {
	form, err := readFileForm(w, r)
	if err == nil && len(form.text) == 0 {
		err = api.Invalid("file", "No file was chosen.", "Choose one, then send it.")
	}
	typed := strings.TrimSpace(form.values["name"])
	name := typed
	if err == nil && name == "" {
		if name = review.NameOf(form.fileName); name == "" {
			err = api.Invalid("name", "The file's name cannot be the name of a source.", "Enter a short name.")
		}
	}
	var reviewed api.SourceReview
	if err == nil {
		reviewed, err = p.Owner.ReviewSourceFile(r.Context(), api.SourceFile{Name: name, Content: bytes.NewReader(form.text)})
	}
	if err != nil {
		p.showFileProblem(w, r, typed, err)
		return
	}
	p.showReview(w, r, &reviewPage{SourceReview: reviewed, Packed: pack(form.text)})
}

// addFromFile adds the file of a review.
func (p *sourceFilePages) addFromFile(w http.ResponseWriter, r *http.Request) {
	form, err := readFileForm(w, r)
	name := form.values["name"]
	asked := api.SourceFile{Name: name, SHA256: form.values["sha256"]}
	if packed := form.values["packed"]; packed != "" && err == nil {
		var file []byte
		file, err = unpack(packed)
		asked.Content = bytes.NewReader(file)
	}
	var added api.SourceReview
	if err == nil {
		added, err = p.Owner.AddSourceFile(r.Context(), asked)
	}
	if err != nil {
		p.showFileProblem(w, r, name, err)
		return
	}
	if !added.Installed {
		ui.Done(w, r, "/sources/add/"+ui.Segment(added.Name), ui.Good("Added. Give it access, and the first run starts."))
		return
	}
	to := "/sources/add/" + ui.Segment(added.Name) + "/about"
	if overview, err := p.Owner.Overview(r.Context()); err == nil {
		for i := range overview.Connections {
			if overview.Connections[i].ConnectorID == added.Name {
				to = "/sources/" + ui.Segment(overview.Connections[i].ID)
				break
			}
		}
	}
	ui.Done(w, r, to, ui.Good("Accepted. It runs with this file from now on."))
}

// fileForm is a form with a source file.
type fileForm struct {
	fileName string
	text     []byte
	values   map[string]string
}

// readFileForm reads a bounded form with at most one file.
func readFileForm(w http.ResponseWriter, r *http.Request) (form fileForm, err error) {
	form.values = map[string]string{}
	body := r.Body
	r.Body = http.MaxBytesReader(w, body, largestFileForm)
	defer func() {
		if err != nil {
			w.Header().Set("Connection", "close")
			_, _ = io.CopyN(io.Discard, body, leftOver) // the client may have disconnected
		}
	}()
	broken := api.Invalid("file", "This form could not be read.", "Go back and send it again.")
	parts, err := r.MultipartReader()
	if err != nil {
		return form, broken
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return form, nil
		}
		if err != nil {
			return form, tooLarge(err, broken)
		}
		most := int64(longestSourceName)
		if part.FormName() == "packed" || part.FileName() != "" {
			most = largestFileForm
		}
		content, err := io.ReadAll(io.LimitReader(part, most))
		if err != nil {
			return form, tooLarge(err, broken)
		}
		if part.FormName() == "file" {
			form.fileName, form.text = part.FileName(), content
		} else {
			form.values[part.FormName()] = string(content)
		}
	}
}

// tooLarge returns the error for a form that exceeds its bound, and otherwise broken.
func tooLarge(err error, broken *api.Error) error {
	var large *http.MaxBytesError
	if !errors.As(err, &large) {
		return broken
	}
	return &api.Error{Status: http.StatusRequestEntityTooLarge, Code: api.CodeFileTooLarge, Param: "file",
		Message: "The file is larger than 4 MiB, so it is not a source file.",
		Next:    "Choose the YAML file that declares the source."}
}

// pack makes a value of a form from a file. Text in a form would lose its line ends.
func pack(text []byte) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // into memory
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// unpack returns the file that pack packed, within its bound.
func unpack(packed string) ([]byte, error) {
	broken := api.Invalid("file", "This form could not be read.", "Choose the file again.")
	raw, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return nil, broken
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, broken
	}
	text, err := io.ReadAll(io.LimitReader(z, review.MaxFile+1))
	if err != nil {
		return nil, broken
	}
	return text, nil
}

// streamNames names what the source collects.
func (page *reviewPage) streamNames() string {
	names := make([]string, len(page.Streams))
	for i, s := range page.Streams {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// hostWords names a host. A sentence begins with a capital letter, and a host name stays as it is.
func hostWords(h review.SourceHost) string {
	if sentence := words.SourceHost(h); !strings.HasPrefix(sentence, h.Name) {
		return text.Upper(sentence)
	}
	return words.SourceHost(h)
}
