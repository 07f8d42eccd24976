package api

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
)

// Keeping is how much of what exists is here, how far back, and what is missing.
type Keeping interface {
	// Kept returns what is stored of every source, day by day for the last year. Its cost does not depend on the
	// number of records.
	Kept(ctx context.Context) (Kept, error)
	// Days counts the records of each day that has any, by day, connection and stream. An
	// *Error when more than 1100 days are asked for. Of a stream that is not Dated they may lack
	// some, or be of another time than the one that it is shown by.
	Days(ctx context.Context, q DayQuery) ([]DayCount, error)
	// Storage returns how much disk space each source and stream uses, and how much can be freed.
	Storage(ctx context.Context) (diskuse.Storage, error)
}

// Kept is what is kept. The day of a record is the one, in UTC, of the time that its stream
// declares; a record without one of the years 1900 to 2199 is undated. Days are written like
// 2026-03-04, and empty where there is none.
type Kept struct {
	ObservedAt time.Time `json:"observed_at"`
	Records    int64     `json:"record_count"`
	// Counting is how much is counted by day; nil when everything is. Whatever is not counted
	// yet is left out of bytes, undated records, days and months, and of nothing else.
	Counting *Counting `json:"counting"`
	Bytes    int64     `json:"bytes"` // of the data of records, without files
	Undated  int64     `json:"undated_count"`
	FirstDay string    `json:"first_day"`
	LastDay  string    `json:"last_day"`
	Today    string    `json:"today"`
	// Sources are the connections, those with most records first. One that was ended is among
	// them while records of it are kept.
	Sources []KeptSource `json:"sources"`
	// Days are all of the last year, from a Monday up to today.
	Days []KeptDay `json:"days"`
}

// Counting is work that is under way.
type Counting struct {
	Done int64 `json:"changes_counted"`
	Of   int64 `json:"changes"`
}

// Percent is how much is done; never all of it.
func (c Counting) Percent() int64 { return min(99, c.Done*100/max(1, c.Of)) }

// KeptDay is one day. Where nothing is kept of it, and no source was asked for it, it is not
// collected.
type KeptDay struct {
	Day       string `json:"day"`
	Records   int64  `json:"record_count"`
	Collected bool   `json:"collected"`
}

// KeptSource is what is kept of a connection.
type KeptSource struct {
	ConnectionID string     `json:"connection_id"`
	Name         string     `json:"connection_name"`
	ConnectorID  string     `json:"connector_id"`
	Status       string     `json:"status"`
	Records      int64      `json:"record_count"`
	Counting     *Counting  `json:"counting"` // how much is counted by day; null means everything
	Bytes        int64      `json:"bytes"`
	Undated      int64      `json:"undated_count"`
	FirstDay     string     `json:"first_day"`
	LastDay      string     `json:"last_day"`
	Today        int64      `json:"today_count"`
	AsOf         *time.Time `json:"as_of"` // when its newest run succeeded
	// Found is how many records exist according to the source, and Missing how many of them are not stored. Both are
	// nil where that is not known. GoesOn means that both may be larger.
	Found   *int64 `json:"found"`
	Missing *int64 `json:"missing"` // null means not known
	GoesOn  bool   `json:"goes_on"` // found and missing may be more
	// Complete means that everything that exists is stored. Say describes what is missing.
	Complete bool         `json:"complete"`
	Say      string       `json:"say"` // what is missing, in words
	Covered  []Covered    `json:"covered"`
	Months   []KeptMonth  `json:"months"` // that have records
	Streams  []KeptStream `json:"streams"`
}

// Incomplete returns the sources that may hold more than is kept; of one connection if it is named.
func (k *Kept) Incomplete(connectionID string) []KeptSource {
	var out []KeptSource
	for i := range k.Sources {
		if s := &k.Sources[i]; !s.Complete && (connectionID == "" || s.ConnectionID == connectionID) {
			out = append(out, *s)
		}
	}
	return out
}

// KeptStream is what is kept of a stream.
type KeptStream struct {
	Name     string    `json:"name"`
	Label    string    `json:"label"`
	Records  int64     `json:"record_count"`
	Deleted  int64     `json:"deleted_count"`
	Counting *Counting `json:"counting"` // how much is counted by day; null means everything
	Bytes    int64     `json:"bytes"`
	Undated  int64     `json:"undated_count"`
	FirstDay string    `json:"first_day"`
	LastDay  string    `json:"last_day"`
	Found    *int64    `json:"found"`
	Missing  *int64    `json:"missing"`
	GoesOn   bool      `json:"goes_on"`
	Covered  []Covered `json:"covered"`
}

// Covered is a span of days that was collected: whole, or with a reason why it is not.
type Covered struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Whole bool   `json:"whole"`
	Why   string `json:"why,omitempty"`
}

// KeptMonth counts the records of a month like 2026-03.
type KeptMonth struct {
	Month   string `json:"month"`
	Records int64  `json:"record_count"`
}

// DayQuery asks for days from one up to and including another; an empty connection or stream
// means all.
type DayQuery struct {
	ConnectionID string `query:"connection_id"`        // only of this connection
	Stream       string `query:"stream"`               // only of this stream
	From         string `query:"from" required:"true"` // the first day
	To           string `query:"to" required:"true"`   // the last day
	// Nearest also returns the last day of each stream before From and the first day after To, at any distance.
	Nearest bool `query:"nearest"`
}

// DayCount counts the records of a stream on a day.
type DayCount struct {
	Day          string `json:"day"`
	ConnectionID string `json:"connection_id"`
	Stream       string `json:"stream"`
	Records      int64  `json:"record_count"`
}
