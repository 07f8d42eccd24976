package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const (
	// stalledAfter is how long a browser may send nothing before its upload is aborted. The upload
	// as a whole has no time limit.
	stalledAfter = 30 * time.Second
	// mostFiles bounds the files of one form.
	mostFiles = 100
	// leftOver is how many more bytes of a refused upload are read, so that a browser that is
	// still sending receives the response.
	leftOver = 64 << 20
	// runWait is how long a page waits for the run that reads a file to begin.
	runWait = 2 * time.Second
)

// OwnLimits reports whether a request uploads files. The component that stores the files bounds
// the length of such a request.
func OwnLimits(r *http.Request) bool {
	if r.Method != http.MethodPost || !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return false
	}
	parts := strings.Split(r.URL.Path, "/")
	if parts[1] != "sources" || parts[len(parts)-1] != "files" {
		return false
	}
	return len(parts) == 4 || len(parts) == 5 && parts[2] == "add"
}

// filesPage lists the files that a connection received.
type filesPage struct {
	connectionPart
	Active  bool
	Imports []api.Import
	Uploads []api.Upload
	Problem *ui.FormProblem
}

// cutWords describes an incomplete upload.
func cutWords(u api.Upload, now time.Time) string {
	words := text.Bytes(u.Received) + " of " + text.Bytes(u.Bytes) + " are here. Choose the same file again to continue."
	if u.KeptUntil != nil {
		words += " They are kept until " + ui.Moment(u.KeptUntil.In(now.Location()), now) + "."
	}
	return words
}

func (p *filesPage) wrong() string {
	if p.Problem == nil {
		return ""
	}
	return p.Problem.Text
}

func (p *filesPage) addWords() string {
	if len(p.Imports) > 0 {
		return "Add another file"
	}
	return "Add a file"
}

// receiptAt is the address of a receipt.
func (c *connectionPart) receiptAt(id string) string { return c.at("/files/"+ui.Segment(id), nil) }

// receiptPage is one of them.
type receiptPage struct {
	connectionPart
	api.Import
	Active bool
}

func (p *adminPages) files(w http.ResponseWriter, r *http.Request) {
	if c, ok := p.part(w, r); ok {
		p.showFiles(w, r, http.StatusOK, &filesPage{connectionPart: c, Active: c.active})
	}
}

func (p *adminPages) showFiles(w http.ResponseWriter, r *http.Request, status int, page *filesPage) {
	var err error
	if page.Imports, err = p.Owner.Imports(r.Context(), page.ID); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	if page.Uploads, err = p.Owner.Uploads(r.Context(), page.ID); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	p.ShowPage(w, r, status, p.PageFrame(w, r, "Files, "+page.connectionPart.Name, "sources"),
		filesBody(page, p.Now()))
}

func (p *adminPages) receipt(w http.ResponseWriter, r *http.Request) {
	c, i, ok := p.importOf(w, r)
	if !ok {
		return
	}
	if i.Status == api.ImportWaiting || i.Status == api.ImportReading {
		w.Header().Set("Refresh", "2") // works without script
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, i.Name, "sources"),
		receiptBody(&receiptPage{c, i, c.active}, p.Now()))
}

// importOf reads the receipt named in the address. If there is none, it writes the response and
// returns false.
func (p *adminPages) importOf(w http.ResponseWriter, r *http.Request) (c connectionPart, i api.Import, ok bool) {
	if c, ok = p.part(w, r); !ok {
		return c, i, false
	}
	id, ok := p.PathSegment(w, r, "import", "sources")
	if !ok {
		return c, i, false
	}
	i, err := p.Owner.ImportByID(r.Context(), id)
	if err == nil && i.ConnectionID != c.ID {
		err = api.NotFound("There is no such import.", "Choose one of the connection's imports.")
	}
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return c, i, false
	}
	return c, i, true
}

// undoImport goes on until nothing is left, for as long as the owner waits.
func (p *adminPages) undoImport(w http.ResponseWriter, r *http.Request) {
	c, i, ok := p.importOf(w, r)
	if !ok {
		return
	}
	control := http.NewResponseController(w)
	for {
		_ = control.SetWriteDeadline(time.Now().Add(2 * stalledAfter)) // without one the server's own holds
		done, err := p.Owner.UndoImport(r.Context(), i.ID)
		if err != nil {
			p.ShowFailure(w, r, "sources", err)
			return
		}
		if done.Status != api.ImportUndoing {
			ui.Done(w, r, c.receiptAt(i.ID),
				ui.Good("Undone. "+text.Count(done.Deleted, "record was deleted.", "records were deleted.")))
			return
		}
	}
}

// addFiles uploads files to a connection.
func (p *adminPages) addFiles(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	began := p.Now()
	given, err := p.take(w, r, nil, func() (string, error) { return c.ID, nil })
	if err != nil && len(given) == 0 {
		found := p.ProblemOf(w, r, err)
		p.showFiles(w, r, found.Status, &filesPage{connectionPart: c, Active: c.active, Problem: &found})
		return
	}
	p.given(w, r, c.ID, given, err, began)
}

// addWithFiles creates a connection and uploads its first files. Without a file it creates no
// connection.
func (p *adminPages) addWithFiles(w http.ResponseWriter, r *http.Request) {
	c, ok := p.connectable(w, r)
	if !ok {
		return
	}
	page := addPage{Connector: c, DisplayName: c.DisplayName}
	began, made := p.Now(), ""
	given, err := p.take(w, r, &page.DisplayName, func() (string, error) {
		if c.Files == nil {
			return "", api.Invalid("file", c.DisplayName+" does not read files.", "Choose another source.")
		}
		d, err := p.Owner.Connect(r.Context(),
			api.Connect{ConnectorID: c.ID, DisplayName: strings.TrimSpace(page.DisplayName), Fields: map[string]string{},
				AwaitFile: true})
		made = d.ID
		return made, err
	})
	if err != nil && made != "" && len(given) == 0 {
		// Who left in the middle of the file leaves no connection without one either.
		err = errors.Join(err, p.Owner.Revoke(context.WithoutCancel(r.Context()), made))
	}
	if err != nil && len(given) == 0 {
		found := p.ProblemOf(w, r, err)
		page.Problem = &found
		p.showUpload(w, r, found.Status, &page)
		return
	}
	p.given(w, r, made, given, err, began)
}

// take imports every file of a form into a connection. It calls to for the connection's id when
// the first file arrives.
func (p *adminPages) take(w http.ResponseWriter, r *http.Request, name *string,
	to func() (string, error)) (given []api.Import, err error) {
	body := &arriving{r.Body, http.NewResponseController(w)}
	r.Body = body
	defer func() {
		if err != nil {
			w.Header().Set("Connection", "close")
			_, _ = io.CopyN(io.Discard, body, leftOver) // the client may have disconnected
		}
	}()
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, api.Invalid("file", "This form could not be read.", "Go back and send it again.")
	}
	id := ""
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return given, &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut, Param: "file", Err: err,
				Message: "The file did not arrive completely. Nothing was stored.", Next: "Send it again."}
		}
		switch {
		case part.FormName() == "display_name" && name != nil && id == "":
			typed, err := io.ReadAll(io.LimitReader(part, 4*api.LongestName))
			if err != nil {
				return given, api.Invalid("file", "This form could not be read.", "Go back and send it again.")
			}
			*name = string(typed)
		case part.FormName() == "files" && part.FileName() != "":
			if len(given) == mostFiles {
				return given, api.Invalid("file", "These are too many files at once.", "Send the rest in another form.")
			}
			if id == "" {
				if id, err = to(); err != nil {
					return given, err
				}
			}
			got, err := p.Owner.Import(r.Context(), id, api.ImportFile{Name: part.FileName(), Content: part})
			if err != nil {
				return given, err
			}
			given = append(given, got)
		}
	}
	if len(given) == 0 {
		return nil, api.Invalid("file", "No file was chosen.", "Choose one, then send it.")
	}
	return given, nil
}

// sentFiles is where the page's own script goes after it has sent files, and leads on as the form does.
func (p *adminPages) sentFiles(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	var given []api.Import
	already := r.URL.Query()["already"]
	for _, id := range r.URL.Query()["import"] {
		i, err := p.Owner.ImportByID(r.Context(), id)
		if err == nil && i.ConnectionID != c.ID {
			err = api.NotFound("There is no such import.", "Choose one of the connection's imports.")
		}
		if err != nil {
			p.ShowFailure(w, r, "sources", err)
			return
		}
		i.Already = slices.Contains(already, id)
		if given = append(given, i); len(given) == mostFiles {
			break
		}
	}
	if len(given) == 0 {
		http.Redirect(w, r, c.at("/files", nil), http.StatusSeeOther)
		return
	}
	p.given(w, r, c.ID, given, nil, given[len(given)-1].ReceivedAt)
}

// dropUpload takes away what has come of a file.
func (p *adminPages) dropUpload(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	id, ok := p.PathSegment(w, r, "upload", "sources")
	if !ok {
		return
	}
	if err := p.Owner.DropUpload(r.Context(), c.ID, id); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	ui.Done(w, r, c.at("/files", nil), ui.Good("Dropped. What had come of the file is gone."))
}

// given redirects to the receipt of a file, or to the run that reads several files.
// If an error ended the form early, it is shown beside the files that arrived.
func (p *adminPages) given(w http.ResponseWriter, r *http.Request, id string, given []api.Import, ended error,
	began time.Time) {
	at := connectionPart{ID: id}
	fresh := 0
	for _, i := range given {
		if !i.Already {
			fresh++
		}
	}
	to, say := at.at("/files", nil), ui.Good(text.Count(int64(fresh), "file is here.", "files are here.")+" Reading now.")
	if ended != nil {
		say = ui.Message{Kind: "bad", Text: text.Count(int64(len(given)), "file is here;", "files are here;") +
			" the next one is not. " + p.ProblemOf(w, r, ended).Text}
	} else if fresh == 0 {
		first := given[0]
		to, say = at.receiptAt(first.ID),
			ui.Good("This file was already imported on "+ui.Moment(first.ReceivedAt.In(began.Location()),
				p.Now())+". Nothing was done.")
	} else if len(given) == 1 {
		to = at.receiptAt(given[0].ID)
	} else if run := p.runSince(r, id, began); run != "" {
		to = "/runs/" + ui.Segment(run)
	}
	ui.Done(w, r, to, say)
}

// runSince waits a moment for a run that began after files came; empty when there is none yet.
func (p *adminPages) runSince(r *http.Request, id string, began time.Time) string {
	deadline := time.After(runWait)
	for {
		d, err := p.Owner.Connection(r.Context(), id)
		switch {
		case err != nil:
			return ""
		case d.ActiveRun != nil:
			return d.ActiveRun.ID
		case len(d.RecentRuns) > 0 && d.RecentRuns[0].StartedAt.After(began):
			return d.RecentRuns[0].ID
		}
		select {
		case <-deadline:
			return ""
		case <-r.Context().Done():
			return ""
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *adminPages) showUpload(w http.ResponseWriter, r *http.Request, status int, page *addPage) {
	p.ShowPage(w, r, status, p.PageFrame(w, r, "Import "+page.Connector.DisplayName, "sources"), uploadBody(page))
}

// arriving extends the read deadline for every chunk, and leaves the response its own time after
// the last chunk.
type arriving struct {
	io.ReadCloser
	control *http.ResponseController
}

func (a *arriving) Read(b []byte) (int, error) {
	next := time.Now().Add(stalledAfter)
	_ = a.control.SetReadDeadline(next)                    // without one the server's own holds
	_ = a.control.SetWriteDeadline(next.Add(stalledAfter)) // as above
	return a.ReadCloser.Read(b)
}

// dropWords returns the label of the drop area.
func dropWords(f *api.FileImport) string {
	if len(f.Extensions) == 0 {
		return "Drop files here"
	}
	return "Drop " + text.List(f.Extensions) + " files here"
}

func fileLede(f *api.FileImport) string {
	if f.Description != "" {
		return f.Description
	}
	return "Bring the files of your export here. Importing one again adds only what is new."
}

// leftOutRow is a line of a receipt about content that is not collected.
type leftOutRow struct{ head, words string }

func leftOutRows(all []api.LeftOut) (out []leftOutRow) {
	for _, sentence := range words.LeftOutWords(all) {
		head, rest, _ := strings.Cut(sentence, ": ")
		out = append(out, leftOutRow{head, rest})
	}
	return out
}

func skipWords(k api.ImportSkip) string {
	words := text.Count(k.Count, "place", "places") + ". "
	if k.Words != "" {
		return words + k.Words
	}
	return words + text.Upper(strings.ReplaceAll(k.Reason, "_", " ")) + "."
}
