package netflixexport

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/protocol"
)

// reasonOrder: the file does not tell how its days are to be read.
const reasonOrder protocol.Reason = "ambiguous_date_order"

type activity struct {
	ID        string   `json:"id"`
	Title     string   `json:"title,omitzero"`
	WatchedAt string   `json:"watched_at"`
	Precision string   `json:"watched_at_precision"`
	Raw       string   `json:"watched_at_raw"`
	Device    string   `json:"device_type,omitzero"`
	Duration  *float64 `json:"duration_seconds,omitzero"`
	Profile   string   `json:"profile_name,omitzero"`
	Country   string   `json:"country,omitzero"`
	Schema    string   `json:"source_schema"`
	Preview   string   `json:"preview_type,omitzero"` // a trailer or a hook, which Netflix plays unasked
}

// reader reads a table; order is the owner's word on how days are written.
type reader struct{ order string }

type rowPlace struct {
	Rows int64 `json:"r"`
}

// columns are where a table has what.
type columns map[string]int

func (c columns) cell(row []string, name string) string {
	if i, ok := c[name]; ok && i < len(row) {
		return strings.TrimSpace(row[i])
	}
	return ""
}

// columnsOf reads the first row. The short table is told by its two columns, whatever they are
// called in the language of the account.
func columnsOf(head []string) (c columns, full bool, ok bool) {
	c = columns{}
	for i, name := range head {
		c[strings.ToLower(strings.TrimSpace(name))] = i
	}
	_, start := c["start time"]
	_, title := c["title"]
	if start && title {
		return c, true, true
	}
	if _, date := c["date"]; date && title {
		return c, false, true // whatever other columns it has
	}
	if len(head) == 2 {
		return columns{"title": 0, "date": 1}, false, true
	}
	return nil, false, false
}

func (r reader) read(ctx context.Context, m *localarchive.Member) error {
	layout := dayLayout("")
	head := false
	err := table(ctx, m, func(c columns, full bool, row []string, _ *localarchive.Table) error {
		if !full && !head && looksLikeADay(c.cell(row, "date")) {
			head = true
		}
		if !full && row != nil {
			layout.see(c.cell(row, "date"))
		}
		if full {
			return errEnough // only the short table has to be looked at twice
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	short := err == nil
	if short && !head {
		return localarchive.OtherKind("its second column has no days")
	}
	if short && !layout.decide(r.order) {
		return localarchive.Refuse(reasonOrder, "the days can be read in two ways")
	}
	var from rowPlace
	m.State(&from)
	times := map[[8]byte]uint32{}
	return table(ctx, m, func(c columns, full bool, row []string, t *localarchive.Table) error {
		var rec activity
		ok := row != nil
		if ok && full {
			rec, ok = fullRow(c, row)
		} else if ok {
			rec, ok = layout.row(c, row, times)
		}
		switch {
		case t.Row < from.Rows:
			return nil // an earlier run has read it
		case ok && rec.Preview != "":
			m.Emit("previews", connectorkit.Upsert(rec))
		case ok:
			m.Emit("viewing_activity", connectorkit.Upsert(rec))
		default:
			m.Row(t.Row, t.Length)
		}
		return m.Place(ctx, func() any { return rowPlace{t.Row + 1} })
	})
}

// errEnough ends a look at a table.
var errEnough = errors.New("seen enough")

// table calls each for every row but the first; a row that cannot be read is nil.
func table(ctx context.Context, m *localarchive.Member, each func(c columns, full bool, row []string, t *localarchive.Table) error) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	t := localarchive.NewTable(localarchive.Text(in))
	head, err := t.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, localarchive.ErrRow) {
		return localarchive.OtherKind("it has no first row")
	}
	if err != nil {
		return err
	}
	c, full, ok := columnsOf(head)
	if !ok {
		return localarchive.OtherKind("its columns are not those of viewing activity")
	}
	if !full && looksLikeADay(c.cell(head, "date")) { // a table whose first row somebody took off
		if err := each(c, full, head, t); err != nil {
			return err
		}
	}
	for {
		row, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, localarchive.ErrRow):
			row = nil
		case err != nil:
			return err
		}
		if err := each(c, full, row, t); err != nil {
			return err
		}
	}
}

// fullRow reads a row of the full export, whose times are in UTC.
func fullRow(c columns, row []string) (activity, bool) {
	raw := c.cell(row, "start time")
	at, err := time.Parse("2006-01-02 15:04:05", raw)
	if err != nil {
		return activity{}, false
	}
	rec := activity{
		Title: c.cell(row, "title"), WatchedAt: at.Format(time.RFC3339), Precision: "instant", Raw: raw, Device: c.cell(row, "device type"),
		Profile: c.cell(row, "profile name"), Country: c.cell(row, "country"), Schema: "full_export", Duration: seconds(c.cell(row, "duration")),
		Preview: c.cell(row, "supplemental video type"),
	}
	rec.ID = idOf("full", rec.Profile, raw, rec.Title, rec.Device, c.cell(row, "duration"))
	return rec, true
}

// row reads a row of the short export, which has a day alone. Equal rows of a file are told
// apart by their number among equals.
func (d *dayOrder) row(c columns, row []string, times map[[8]byte]uint32) (activity, bool) {
	raw := c.cell(row, "date")
	day, ok := d.day(raw)
	if !ok {
		return activity{}, false
	}
	rec := activity{Title: c.cell(row, "title"), WatchedAt: day.Format(time.RFC3339), Precision: "day", Raw: raw, Schema: "direct_history"}
	sum := sha256.Sum256([]byte(rec.Title + "\x00" + rec.WatchedAt))
	n := times[[8]byte(sum[:8])]
	times[[8]byte(sum[:8])]++
	rec.ID = idOf("day", rec.Title, rec.WatchedAt, strconv.FormatUint(uint64(n), 10))
	return rec, true
}

func idOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// seconds reads a duration as 01:02:03.
func seconds(text string) *float64 {
	total := 0.0
	for _, part := range strings.Split(text, ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 0 || n > 1e6 {
			return nil
		}
		total = total*60 + n
	}
	return &total
}
