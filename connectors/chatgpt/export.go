package chatgpt

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

// Bounds of an export. They are far beyond what a person writes, and keep a crafted file
// from filling memory or disk.
const (
	maxExportBytes      = 32 << 30 // unpacked, all parts together
	maxConversation     = 64 << 20
	maxEntries          = 1_000_000
	maxCompressionRatio = 200      // unpacked over packed
	ratioCheckMinimum   = 64 << 20 // which counts from this size on
	exportPage          = 100
)

var (
	errConversationTooLarge = errors.New("a conversation of the export is larger than 64 MiB")
	errCompressionBomb      = errors.New("the export unpacks to far more than its size")
	errNotArray             = errors.New("a part of the export is not a list of conversations")
	errNothing              = errors.New("there is no conversations.json and no conversations-000.json")
)

// exportIndex is a data export: an index of its conversations, newest first, and the places
// where each can be read again. The parts of a zip file cannot be read at a place, so that
// they are copied into a nameless file of this run.
type exportIndex struct {
	entries []exportEntry // newest first
	byKey   map[string]int
	shares  []connectorkit.Record
	shared  map[string]bool // their keys
	opened  []io.Closer
	spool   *os.File
	spooled int64
	reading string // the file that is being read

	accounts []connectorkit.Record // of what its files hold and is not collected
	// chats and links compare some conversations and shares with the known schema.
	chats, links *connectorkit.Sample
}

// exportEntry is one conversation of the export.
type exportEntry struct {
	item   connectorkit.Item
	file   string // that it is in, below the folder
	in     io.ReaderAt
	offset int64
	length int
}

// openExport reads the whole export once. A damaged or missing export ends the run before anything is sent.
func openExport(ctx context.Context, s *connectorkit.Setup, at string) (*exportIndex, error) {
	e := &exportIndex{
		byKey: map[string]int{}, shared: map[string]bool{},
		chats: s.Sample("conversations", streamConversations, streamMessages), links: s.Sample(streamShares, streamShares),
	}
	err := e.openExport(ctx, at)
	if err == nil {
		slices.SortStableFunc(e.entries, func(a, b exportEntry) int { return b.item.Time.Compare(a.item.Time) })
		for i, x := range e.entries {
			e.byKey[x.item.Key] = i
		}
		return e, nil
	}
	e.closeFiles(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNothing):
		return nil, connectorkit.EndRun("chatgpt_export_missing",
			"PDPP_CHATGPT_EXPORT_PATH leads to no data export of ChatGPT; "+
				"request one under Settings, Data controls, and upload the zip file that comes by mail",
			protocol.ManualActionRequired,
			false)
	case errors.Is(err, fs.ErrPermission):
		return nil, connectorkit.EndRun("chatgpt_export_unreadable",
			"the data export cannot be read; let this program read the file that PDPP_CHATGPT_EXPORT_PATH names",
			protocol.ManualActionRequired, false)
	}
	return nil, &exportError{err,
		connectorkit.EndRun("chatgpt_export_damaged", "the data export is damaged; download it again",
			protocol.ManualActionRequired, false)}
}

// exportError keeps the cause for the log beside what the owner reads.
type exportError struct{ cause, failure error }

func (e *exportError) Error() string { return e.cause.Error() }

func (e *exportError) Unwrap() []error { return []error{e.failure, e.cause} }

func (e *exportIndex) openExport(ctx context.Context, at string) error {
	info, err := os.Stat(at)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return e.openExportZip(ctx, at)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	e.opened = append(e.opened, root)
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	found := false
	for _, f := range list {
		if !conversationFileName.MatchString(f.Name()) && f.Name() != sharesName {
			continue
		}
		found = found || f.Name() != sharesName
		e.reading = f.Name()
		if err := e.openExportPart(ctx, root, f.Name()); err != nil {
			return err
		}
	}
	zips, err := findZipFiles(root.FS())
	if err != nil {
		return err
	}
	for _, name := range zips {
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		e.opened = append(e.opened, f)
		e.reading = name
		if err := e.readExportZip(ctx, f); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return errNothing
	}
	return e.accountLoose(ctx, root.FS())
}

// openExportPart reads a file of an unpacked export and keeps it open.
func (e *exportIndex) openExportPart(ctx context.Context, root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	e.opened = append(e.opened, f)
	if name == sharesName {
		return e.readShares(f)
	}
	return e.indexExportPart(ctx, f, f)
}

func (e *exportIndex) openExportZip(ctx context.Context, at string) error {
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	e.opened = append(e.opened, f)
	e.reading = filepath.Base(at)
	return e.readExportZip(ctx, f)
}

func (e *exportIndex) readExportZip(ctx context.Context, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return fmt.Errorf("open zip: %w", err)
	}
	found := false
	left := newAllowance(info.Size())
	var members localfile.Leftovers
	for _, file := range z.File {
		name := path.Base(file.Name)
		if part := conversationFileName.MatchString(name); !part && name != sharesName ||
			strings.Count(strings.Trim(file.Name, "/"), "/") > 1 {
			if !strings.HasSuffix(file.Name, "/") {
				countLeftOut(&members, file.Name)
			}
			continue
		}
		found = found || name != sharesName
		r, err := file.Open()
		if err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
		bounded := &boundedReader{r: r, left: left}
		if name == sharesName {
			err = e.readShares(bounded)
		} else {
			err = e.indexExportPart(ctx, bounded, nil)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, bounded) // the checksum comes last
		}
		_ = r.Close() // it was only read
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	if !found {
		return errNothing
	}
	e.addFileAccount(e.reading, members)
	return nil
}

// indexExportPart indexes a list of conversations. With at, they are found there again; without,
// they are copied.
func (e *exportIndex) indexExportPart(ctx context.Context, r io.Reader, at io.ReaderAt) error {
	return eachArrayElement(r, func(raw jsontext.Value, offset int64) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.chats.Due() {
			e.chats.Content("", raw, true)
		}
		x := exportEntry{in: at, file: e.reading, offset: offset, length: len(raw)}
		c, err := parseConversation(raw)
		if err != nil {
			// It has no place in a list: it is declared with the first page.
			x.item = connectorkit.Item{Record: connectorkit.Unreadable("", err)}
			return e.addEntry(x)
		}
		if x.item, err = c.listItem(c.messagesOnBranch()); err == nil && e.hasConversation(x.item) {
			return nil
		}
		x.item.Record = x.item.Record.FromFile(e.reading)
		if err == nil && at == nil {
			if x.in, x.offset, err = e.copyToTempFile(raw); err != nil {
				return err
			}
		}
		return e.addEntry(x)
	})
}

// hasConversation reports whether the conversation is there already, as new as this.
func (e *exportIndex) hasConversation(item connectorkit.Item) bool {
	i, twice := e.byKey[item.Key]
	return twice && item.Key != "" && !item.Time.After(e.entries[i].item.Time)
}

// addEntry keeps an entry; of two with one key the newer.
func (e *exportIndex) addEntry(x exportEntry) error {
	if len(e.entries) >= maxEntries {
		return errCompressionBomb
	}
	if i, twice := e.byKey[x.item.Key]; twice && x.item.Key != "" {
		if x.item.Time.After(e.entries[i].item.Time) {
			e.entries[i] = x
		}
		return nil
	}
	e.byKey[x.item.Key] = len(e.entries)
	e.entries = append(e.entries, x)
	return nil
}

// copyToTempFile puts a conversation into the run's nameless file.
func (e *exportIndex) copyToTempFile(raw []byte) (io.ReaderAt, int64, error) {
	if e.spool == nil {
		f, err := os.CreateTemp(".", ".export-*")
		if err != nil {
			return nil, 0, fmt.Errorf("make scratch file: %w", err)
		}
		e.spool = f
		_ = os.Remove(f.Name()) // where that is not possible the run's folder goes with the run
	}
	at := e.spooled
	n, err := e.spool.WriteAt(raw, at)
	e.spooled += int64(n)
	if err != nil {
		return nil, 0, fmt.Errorf("write scratch file: %w", err)
	}
	return e.spool, at, nil
}

// readShares maps the shares of an export.
func (e *exportIndex) readShares(r io.Reader) error {
	return eachArrayElement(r, func(raw jsontext.Value, _ int64) error {
		if len(e.shares) >= maxEntries {
			return errCompressionBomb
		}
		if e.links.Due() {
			e.links.Content("", raw, true)
		}
		key, rec := shareFromRow(raw)
		if key != "" && e.shared[key] {
			return nil // a newer file has it
		}
		e.shared[key] = true
		e.shares = append(e.shares, rec.FromFile(e.reading))
		return nil
	})
}

// closeFiles closes and removes everything that the index holds open.
func (e *exportIndex) closeFiles(context.Context) {
	if e.spool != nil {
		e.opened = append(e.opened, e.spool)
	}
	for _, c := range e.opened {
		_ = c.Close() // nothing was written that must last
	}
	e.opened, e.spool = nil, nil
}

// collectors reads the export. It is never compared with the store: an export is of one moment and one
// account, and older ones are removed to save space, so that what it lacks may still be there.
func (e *exportIndex) collectors() []connectorkit.Collector {
	return []connectorkit.Collector{
		connectorkit.ListDetail{List: streamConversations, Detail: streamMessages, ListPage: e.fetchListPage,
			Fetch: e.fetchConversation},
		connectorkit.PagedStream{Stream: streamShares,
			Page: func(context.Context, connectorkit.Cursor) (connectorkit.Page, error) {
				return connectorkit.Page{Records: e.shares, Next: connectorkit.Cursor{"shares": strconv.Itoa(len(e.shares))}}, nil
			}},
		connectorkit.PushSource{Streams: []string{streamMemories, streamGPTs, streamInstructions},
			Collect: declareNotInExport},
		accountsOf(e),
	}
}

// declareNotInExport declares that exports do not contain the other streams.
func declareNotInExport(ctx context.Context, f *connectorkit.Push) error {
	for _, stream := range []string{streamMemories, streamGPTs, streamInstructions} {
		text := "a data export does not have this; sign in to ChatGPT to collect it"
		if !slices.Contains(f.Selected(), stream) {
			continue
		}
		err := f.Skip(ctx, protocol.SkipResult{
			Stream: stream, Reason: "not_available", Message: &text,
			RecoveryHint: &protocol.RecoveryHint{Action: protocol.NotRetriable},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchListPage lists a hundred conversations from the window's newest on. What could not be read at
// all is declared with the first page.
func (e *exportIndex) fetchListPage(_ context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
	from, _ := strconv.Atoi(w.Token) // none is the first
	var page connectorkit.ListPage
	for i := from; i < len(e.entries); i++ {
		item := e.entries[i].item
		if item.Key != "" && !w.Before.IsZero() && item.Time.After(w.Before) {
			continue
		}
		if len(page.Items) == exportPage {
			page.Next = strconv.Itoa(i)
			break
		}
		page.Items = append(page.Items, item)
	}
	page.Total = len(e.entries)
	return page, nil
}

// fetchConversation reads the messages of one conversation.
func (e *exportIndex) fetchConversation(_ context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	c, err := e.conversation(item.Key)
	if err != nil {
		return nil, err
	}
	return c.messageRecords(), nil
}

// conversation reads one conversation again at its place.
func (e *exportIndex) conversation(key string) (*conversation, error) {
	i, ok := e.byKey[key]
	if !ok {
		return nil, connectorkit.Fail(connectorkit.NotFound, nil)
	}
	x := e.entries[i]
	raw := make([]byte, x.length)
	if _, err := x.in.ReadAt(raw, x.offset); err != nil {
		return nil, connectorkit.Fail(connectorkit.Unavailable, fmt.Errorf("read export: %w", err))
	}
	c, err := parseConversation(raw)
	if err != nil || c.conversationID() != key {
		return nil, connectorkit.Fail(connectorkit.Unavailable, fmt.Errorf("the export changed while it was read: %w", err))
	}
	c.file = x.file
	return c, nil
}
