package manage

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
)

const (
	// stalledAfter is how long a browser may send nothing before its file is given up. A file as a
	// whole may take as long as it takes.
	stalledAfter = 30 * time.Second
	// mostFiles bounds the files of one form.
	mostFiles = 100
	// leftOver is how much of what still comes is read after a refusal, so that a browser that is
	// sending hears it.
	leftOver = 64 << 20
	// runWait is how long a page waits for the run that reads a file to begin.
	runWait = 2 * time.Second
)

// OwnLimits says which requests bring files, whose length is bounded by whoever keeps them.
func OwnLimits(r *http.Request) bool {
	if r.Method != http.MethodPost || !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return false
	}
	parts := strings.Split(r.URL.Path, "/")
	return len(parts) == 4 && (parts[1] == "connections" || parts[1] == "add") && parts[3] == "files"
}

// filesPage is what a connection was given.
type filesPage struct {
	connectionPart
	Active  bool
	Imports []api.Import
	Uploads []api.Upload
	Problem *problem
}

// cutWords tell of a file that has not come to its end.
func cutWords(u api.Upload, now time.Time) string {
	words := text.Bytes(u.Received) + " of " + text.Bytes(u.Bytes) + " are here. Give the same file again, and it goes on."
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
func (c *connectionPart) receiptAt(id string) string { return c.at("/files/"+segment(id), nil) }

// receiptPage is one of them.
type receiptPage struct {
	connectionPart
	api.Import
	Active bool
}

func (p *pages) files(w http.ResponseWriter, r *http.Request) {
	if c, ok := p.part(w, r); ok {
		p.showFiles(w, r, http.StatusOK, &filesPage{connectionPart: c, Active: c.active})
	}
}

func (p *pages) showFiles(w http.ResponseWriter, r *http.Request, status int, page *filesPage) {
	var err error
	if page.Imports, err = p.Owner.Imports(r.Context(), page.ID); err != nil {
		p.fail(w, r, "connections", err)
		return
	}
	if page.Uploads, err = p.Owner.Uploads(r.Context(), page.ID); err != nil {
		p.fail(w, r, "connections", err)
		return
	}
	p.show(w, r, status, p.frame(w, r, "Files, "+page.connectionPart.Name, "connections"), filesBody(page, p.Now()))
}

func (p *pages) receipt(w http.ResponseWriter, r *http.Request) {
	c, i, ok := p.importOf(w, r)
	if !ok {
		return
	}
	p.show(w, r, http.StatusOK, p.frame(w, r, i.Name, "connections"), receiptBody(&receiptPage{c, i, c.active}, p.Now()))
}

// importOf reads the receipt that the address names. When there is none it answers, and gives
// false.
func (p *pages) importOf(w http.ResponseWriter, r *http.Request) (c connectionPart, i api.Import, ok bool) {
	if c, ok = p.part(w, r); !ok {
		return c, i, false
	}
	id, ok := p.segmentOf(w, r, "import", "connections")
	if !ok {
		return c, i, false
	}
	i, err := p.Owner.ImportByID(r.Context(), id)
	if err == nil && i.ConnectionID != c.ID {
		err = api.NotFound("There is no such import.", "Choose one of the connection's imports.")
	}
	if err != nil {
		p.fail(w, r, "connections", err)
		return c, i, false
	}
	return c, i, true
}

// undoImport goes on until nothing is left, for as long as the owner waits.
func (p *pages) undoImport(w http.ResponseWriter, r *http.Request) {
	c, i, ok := p.importOf(w, r)
	if !ok {
		return
	}
	control := http.NewResponseController(w)
	for {
		_ = control.SetWriteDeadline(time.Now().Add(2 * stalledAfter)) // without one the server's own holds
		done, err := p.Owner.UndoImport(r.Context(), i.ID)
		if err != nil {
			p.fail(w, r, "connections", err)
			return
		}
		if done.Status != api.ImportUndoing {
			ui.Done(w, r, c.receiptAt(i.ID), ui.Good("Undone. "+text.Count(done.Deleted, "record was deleted.", "records were deleted.")))
			return
		}
	}
}

// addFiles gives files to a connection.
func (p *pages) addFiles(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	began := p.Now()
	given, err := p.take(w, r, nil, func() (string, error) { return c.ID, nil })
	if err != nil && len(given) == 0 {
		found := p.problem(w, r, err)
		p.showFiles(w, r, found.status, &filesPage{connectionPart: c, Active: c.active, Problem: &found})
		return
	}
	p.given(w, r, c.ID, given, err, began)
}

// addWithFiles makes a connection and gives it its first files. Without one there is no
// connection.
func (p *pages) addWithFiles(w http.ResponseWriter, r *http.Request) {
	c, ok := p.connectable(w, r)
	if !ok {
		return
	}
	page := addPage{Connector: c, DisplayName: c.DisplayName}
	began, made := p.Now(), ""
	given, err := p.take(w, r, &page.DisplayName, func() (string, error) {
		if c.Files == nil {
			return "", api.Invalid("file", c.DisplayName+" takes no files.", "Choose another source.")
		}
		d, err := p.Owner.Connect(r.Context(), api.Connect{ConnectorID: c.ID, DisplayName: strings.TrimSpace(page.DisplayName), Fields: map[string]string{}, AwaitFile: true})
		made = d.ID
		return made, err
	})
	if err != nil && made != "" && len(given) == 0 {
		// Who left in the middle of the file leaves no connection without one either.
		err = errors.Join(err, p.Owner.Revoke(context.WithoutCancel(r.Context()), made))
	}
	if err != nil && len(given) == 0 {
		found := p.problem(w, r, err)
		page.Problem = &found
		p.showUpload(w, r, found.status, &page)
		return
	}
	p.given(w, r, made, given, err, began)
}

// take gives every file of a form to the connection that to names when the first one comes.
func (p *pages) take(w http.ResponseWriter, r *http.Request, name *string, to func() (string, error)) (given []api.Import, err error) {
	body := &arriving{r.Body, http.NewResponseController(w)}
	r.Body = body
	defer func() {
		if err != nil {
			w.Header().Set("Connection", "close")
			_, _ = io.CopyN(io.Discard, body, leftOver) // whoever left has left
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
			return given, &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut, Param: "file", Err: err, Message: "The file did not come to its end. Nothing was kept.", Next: "Give it again."}
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
func (p *pages) sentFiles(w http.ResponseWriter, r *http.Request) {
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
			p.fail(w, r, "connections", err)
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
func (p *pages) dropUpload(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	id, ok := p.segmentOf(w, r, "upload", "connections")
	if !ok {
		return
	}
	if err := p.Owner.DropUpload(r.Context(), c.ID, id); err != nil {
		p.fail(w, r, "connections", err)
		return
	}
	ui.Done(w, r, c.at("/files", nil), ui.Good("Dropped. What had come of the file is gone."))
}

// given leads to what comes of files: to the run that reads them, or to the receipt where there is
// nothing to read. What ended the form before its last file is said beside those that came.
func (p *pages) given(w http.ResponseWriter, r *http.Request, id string, given []api.Import, ended error, began time.Time) {
	at := connectionPart{ID: id}
	fresh := 0
	for _, i := range given {
		if !i.Already {
			fresh++
		}
	}
	to, say := at.at("/files", nil), ui.Good(text.Count(int64(fresh), "file is here.", "files are here.")+" Reading now.")
	if ended != nil {
		say = ui.Message{Kind: "bad", Text: text.Count(int64(len(given)), "file is here;", "files are here;") + " the next one is not. " + p.problem(w, r, ended).Text}
	} else if fresh == 0 {
		first := given[0]
		to, say = at.receiptAt(first.ID), ui.Good("This file was already imported on "+ui.Moment(first.ReceivedAt.In(began.Location()), p.Now())+". Nothing was done.")
	} else if run := p.runSince(r, id, began); run != "" {
		to = "/runs/" + segment(run)
	}
	ui.Done(w, r, to, say)
}

// runSince waits a moment for a run that began after files came; empty when there is none yet.
func (p *pages) runSince(r *http.Request, id string, began time.Time) string {
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

func (p *pages) showUpload(w http.ResponseWriter, r *http.Request, status int, page *addPage) {
	p.show(w, r, status, p.frame(w, r, "Import "+page.Connector.DisplayName, "connections"), uploadBody(page))
}

// arriving gives the browser the full time for every piece, and the answer its own after the last.
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

// dropWords say what is to be dropped.
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
	for _, words := range api.LeftOutWords(all) {
		head, rest, _ := strings.Cut(words, ": ")
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

// undoWords tell what undoing would do.
func undoWords(i api.Import) string {
	words := text.Count(*i.UndoDeletes, "record came from this file alone and is deleted; its history stays.", "records came from this file alone and are deleted; their history stays.")
	if *i.UndoKeeps > 0 {
		words += " " + text.Count(*i.UndoKeeps, "record stays as it is, because something else brought it too.", "records stay as they are, because something else brought them too.")
	}
	return words + " The next run reads everything else again."
}
