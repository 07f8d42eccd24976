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

// reasonOrder marks a file that does not reveal the order of day and month.
const reasonOrder protocol.Reason = "ambiguous_date_order"

type activityRecord struct {
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

// tableReader reads a table; order is the owner's word on how days are written.
type tableReader struct{ order string }

type rowPosition struct {
	Rows int64 `json:"r"`
}

// columnPositions are where a table has what.
type columnPositions map[string]int

func (c columnPositions) cellOf(row []string, name string) string {
	if i, ok := c[name]; ok && i < len(row) {
		return strings.TrimSpace(row[i])
	}
	return ""
}

// parseHeader reads the first row. The short table is recognized by its two columns, in any language.
func parseHeader(head []string) (c columnPositions, full bool, ok bool) {
	c = columnPositions{}
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
		return columnPositions{"title": 0, "date": 1}, false, true
	}
	return nil, false, false
}

func (r tableReader) readActivity(ctx context.Context, m *localarchive.Member) error {
	layout := dateOrderFromOwner("")
	head := false
	err := eachTableRow(ctx, m, func(c columnPositions, full bool, row []string, _ *localarchive.Table) error {
		if !full && !head && looksLikeADay(c.cellOf(row, "date")) {
			head = true
		}
		if !full && row != nil {
			layout.observeDate(c.cellOf(row, "date"))
		}
		if full {
			return errStopReading // only the short table has to be looked at twice
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStopReading) {
		return err
	}
	short := err == nil
	if short && !head {
		return localarchive.OtherKind("its second column has no days")
	}
	if short && !layout.decideOrder(r.order) {
		return localarchive.RefuseMember(reasonOrder, "the days can be read in two ways")
	}
	var from rowPosition
	m.State(&from)
	times := map[[8]byte]uint32{}
	return eachTableRow(ctx, m, func(c columnPositions, full bool, row []string, t *localarchive.Table) error {
		var rec activityRecord
		ok := row != nil
		if ok && full {
			rec, ok = readFullRow(c, row)
		} else if ok {
			rec, ok = layout.readShortRow(c, row, times)
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
		return m.Place(ctx, func() any { return rowPosition{t.Row + 1} })
	})
}

// errStopReading ends a look at a table.
var errStopReading = errors.New("stop reading")

// eachTableRow calls each for every row but the first; a row that cannot be read is nil.
func eachTableRow(ctx context.Context, m *localarchive.Member,
	each func(c columnPositions, full bool, row []string, t *localarchive.Table) error) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	t := localarchive.NewTable(localarchive.DecodedText(in))
	head, err := t.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, localarchive.ErrRowUnreadable) {
		return localarchive.OtherKind("it has no first row")
	}
	if err != nil {
		return err
	}
	c, full, ok := parseHeader(head)
	if !ok {
		return localarchive.OtherKind("its columns are not those of viewing activity")
	}
	if !full && looksLikeADay(c.cellOf(head, "date")) { // a table without its header row
		if err := each(c, full, head, t); err != nil {
			return err
		}
	}
	for {
		row, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, localarchive.ErrRowUnreadable):
			row = nil
		case err != nil:
			return err
		}
		if err := each(c, full, row, t); err != nil {
			return err
		}
	}
}

// readFullRow reads a row of the full export, which has times in UTC.
func readFullRow(c columnPositions, row []string) (activityRecord, bool) {
	raw := c.cellOf(row, "start time")
	at, err := time.Parse("2006-01-02 15:04:05", raw)
	if err != nil {
		return activityRecord{}, false
	}
	rec := activityRecord{
		Title: c.cellOf(row, "title"), WatchedAt: at.Format(time.RFC3339), Precision: "instant", Raw: raw,
		Device:  c.cellOf(row, "device type"),
		Profile: c.cellOf(row, "profile name"), Country: c.cellOf(row, "country"), Schema: "full_export",
		Duration: parseDuration(c.cellOf(row, "duration")),
		Preview:  c.cellOf(row, "supplemental video type"),
	}
	rec.ID = hashedID("full", rec.Profile, raw, rec.Title, rec.Device, c.cellOf(row, "duration"))
	return rec, true
}

// readShortRow reads a row of the short export, which has only a day. Equal rows of a file get different numbers.
func (d *dateOrder) readShortRow(c columnPositions, row []string, times map[[8]byte]uint32) (activityRecord, bool) {
	raw := c.cellOf(row, "date")
	day, ok := d.parseDate(raw)
	if !ok {
		return activityRecord{}, false
	}
	rec := activityRecord{Title: c.cellOf(row, "title"), WatchedAt: day.Format(time.RFC3339), Precision: "day", Raw: raw,
		Schema: "direct_history"}
	sum := sha256.Sum256([]byte(rec.Title + "\x00" + rec.WatchedAt))
	n := times[[8]byte(sum[:8])]
	times[[8]byte(sum[:8])]++
	rec.ID = hashedID("day", rec.Title, rec.WatchedAt, strconv.FormatUint(uint64(n), 10))
	return rec, true
}

func hashedID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// parseDuration reads a duration as 01:02:03.
func parseDuration(text string) *float64 {
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
