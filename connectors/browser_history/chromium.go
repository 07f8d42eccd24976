package browserhistory

import (
	"context"
	"fmt"
)

// visitRecord is one visit of a page.
type visitRecord struct {
	ID         string `json:"id"`
	Browser    string `json:"browser"`
	Profile    string `json:"profile"`
	URL        string `json:"url"`
	Host       string `json:"host,omitzero"`
	Title      string `json:"title,omitzero"`
	Timestamp  string `json:"timestamp,omitzero"`
	Transition string `json:"transition,omitzero"`
	Duration   *int64 `json:"duration_ms,omitzero"`
	From       *int64 `json:"from_visit,omitzero"`
	Synced     *bool  `json:"synced,omitzero"`
}

// searchRecord is a visit of a page of results.
type searchRecord struct {
	ID        string `json:"id"`
	Browser   string `json:"browser"`
	Profile   string `json:"profile"`
	Term      string `json:"term"`
	Engine    string `json:"engine,omitzero"`
	URL       string `json:"url,omitzero"`
	Timestamp string `json:"timestamp,omitzero"`
}

// downloadRecord is a file that was fetched.
type downloadRecord struct {
	ID        string `json:"id"`
	Browser   string `json:"browser"`
	Profile   string `json:"profile"`
	URL       string `json:"url,omitzero"`
	Host      string `json:"host,omitzero"`
	Page      string `json:"page_url,omitzero"`
	Path      string `json:"target_path,omitzero"`
	MIME      string `json:"mime_type,omitzero"`
	State     string `json:"state,omitzero"`
	Received  *int64 `json:"received_bytes,omitzero"`
	Total     *int64 `json:"total_bytes,omitzero"`
	StartedAt string `json:"started_at,omitzero"`
	EndedAt   string `json:"ended_at,omitzero"`
	Opened    *bool  `json:"opened,omitzero"`
}

// transitions are how a page was come to, by the lowest byte of the number.
var transitions = []string{
	"link", "typed", "bookmark", "subframe", "manual_subframe", "generated", "start_page", "form_submit", "reload",
	"keyword", "keyword_generated",
}

var downloadStates = map[int64]string{0: "in_progress", 1: "complete", 2: "cancelled", 3: "interrupted",
	4: "interrupted"}

func readChromium(ctx context.Context, h *historyReader) error {
	if ok, err := h.hasColumns(ctx, "visits", "id", "url", "visit_time"); err != nil || !ok {
		return firstError(err, missingTableError("visits"))
	}
	if ok, err := h.hasColumns(ctx, "urls", "id", "url"); err != nil || !ok {
		return firstError(err, missingTableError("urls"))
	}
	if err := h.chromiumVisits(ctx); err != nil {
		return err
	}
	if ok, err := h.hasColumns(ctx, "downloads", "id", "start_time"); err != nil || !ok {
		return err
	}
	return h.chromiumDownloads(ctx)
}

func firstError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// columnList names columns of a table, with NULL for those that this version has not.
func (h *historyReader) columnList(ctx context.Context, name, alias string, columns ...string) (out []string,
	err error) {
	for _, column := range columns {
		text, err := h.columnOrDefault(ctx, name, alias, column, "NULL")
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func (h *historyReader) chromiumVisits(ctx context.Context) error {
	own, err := h.columnList(ctx, "visits", "t", "from_visit", "transition", "visit_duration", "originator_cache_guid")
	if err != nil {
		return err
	}
	title, err := h.columnOrDefault(ctx, "urls", "u", "title", "NULL")
	if err != nil {
		return err
	}
	term := "NULL"
	if ok, err := h.hasColumns(ctx, "keyword_search_terms", "url_id", "term"); err != nil {
		return err
	} else if ok {
		term = "(SELECT k.term FROM keyword_search_terms k WHERE k.url_id = t.url LIMIT 1)"
	}
	return h.readTable(ctx, historyTable{
		name: "visits", epoch: epochSince1601, far: recheckDepth, at: "t.visit_time", window: "t.visit_time >= ?2",
		fields: append([]string{"u.url", title, term}, own...), joined: "LEFT JOIN urls u ON u.id = t.url",
		take: func(row []any) {
			url, host := cleanAddress(row[2])
			v := visitRecord{
				ID: h.rowKey(row[0], row[1]), Browser: h.browser, Profile: h.profile, URL: url, Host: host,
				Title: boundedText(row[3], maxTitleBytes), Timestamp: epochSince1601.formatTime(row[1]),
				From: nonZeroInteger(row[5]), Transition: enumName(transitions, row[6], 0xff), Duration: milliseconds(row[7]),
			}
			if row[8] != nil {
				synced := boundedText(row[8], 100) != ""
				v.Synced = &synced
			}
			h.emitRecord("visits", host, len(url)+len(v.Title), &v)
			if words := boundedText(row[4], maxTitleBytes); words != "" {
				h.emitRecord("searches", host, len(url)+len(words), &searchRecord{
					ID: v.ID, Browser: h.browser, Profile: h.profile, Term: words, Engine: host, URL: url, Timestamp: v.Timestamp,
				})
			}
		},
	})
}

func (h *historyReader) chromiumDownloads(ctx context.Context) error {
	own, err := h.columnList(ctx, "downloads", "t", "guid", "target_path", "received_bytes", "total_bytes", "state",
		"end_time",
		"opened", "mime_type", "tab_url")
	if err != nil {
		return err
	}
	accessed, err := h.columnOrDefault(ctx, "downloads", "t", "last_access_time", "NULL")
	if err != nil {
		return err
	}
	url := "NULL"
	if ok, err := h.hasColumns(ctx, "downloads_url_chains", "id", "chain_index", "url"); err != nil {
		return err
	} else if ok {
		url = "(SELECT c.url FROM downloads_url_chains c WHERE c.id = t.id ORDER BY c.chain_index DESC LIMIT 1)"
	}
	window := fmt.Sprintf("t.start_time >= ?2 OR %s >= ?2 OR %s >= ?2 OR %s = 0", own[5], accessed, own[4])
	return h.readTable(ctx, historyTable{
		name: "downloads", epoch: epochSince1601, far: recheckDepth, at: "t.start_time", window: window,
		fields: append([]string{url}, own...),
		take: func(row []any) {
			from, host := cleanAddress(row[2])
			page, pageHost := cleanAddress(row[11])
			d := downloadRecord{
				ID: h.rowKey(row[0], row[1]), Browser: h.browser, Profile: h.profile, URL: from, Host: host, Page: page,
				Path:     boundedText(row[4], maxTitleBytes),
				Received: optionalInteger(row[5]), Total: optionalInteger(row[6]), State: downloadStates[integerValue(row[7])],
				StartedAt: epochSince1601.formatTime(row[1]), EndedAt: epochSince1601.formatTime(row[8]),
				MIME: boundedText(row[10], 200),
			}
			if guid := boundedText(row[3], 100); guid != "" {
				d.ID = h.f.ID + "/" + guid
			}
			if row[7] == nil {
				d.State = ""
			}
			if row[9] != nil {
				opened := integerValue(row[9]) != 0
				d.Opened = &opened
			}
			if h.leaveOut.excludesHost(pageHost) {
				host = pageHost
			}
			h.emitRecord("downloads", host, len(from)+len(page)+len(d.Path), &d)
		},
	})
}

// nonZeroInteger returns a number, or nil for zero, which means unknown.
func nonZeroInteger(v any) *int64 {
	if integerValue(v) == 0 {
		return nil
	}
	return optionalInteger(v)
}

// milliseconds of a length that is in microseconds.
func milliseconds(v any) *int64 {
	if v == nil {
		return nil
	}
	n := integerValue(v) / 1000
	return &n
}

// enumName returns the name of a number after applying the mask.
func enumName(names []string, v any, mask int64) string {
	if v == nil {
		return ""
	}
	if n := integerValue(v) & mask; n >= 0 && n < int64(len(names)) {
		return names[n]
	}
	return "other"
}
