package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// kept is what the server keeps of the records of a device beside themselves.
type kept struct {
	name  string
	dated bool // their time is declared: they are counted by day and indexed by time, and so are three fields
}

var keptWays = []kept{{"plain", false}, {"indexed", true}}

// measureIndexed uploads the same records to two streams of one server, in alternating batches.
// Records of the first stream have no time and no indexed field. The second stream is counted by
// day and indexed by time and by three fields.
func measureIndexed(ctx context.Context, c config, dir string, search bool) (plain, indexed []float64, err error) {
	for round := range c.Rounds {
		path := filepath.Join(dir, fmt.Sprint("indexed-", search, "-", round, ".db"))
		got, err := indexedOnce(ctx, path, search)
		if err != nil {
			return nil, nil, err
		}
		_ = os.Remove(path)
		plain, indexed = append(plain, got[0]), append(indexed, got[1])
	}
	return plain, indexed, nil
}

// indexedOnce returns megabytes per second of processor time for each stream.
func indexedOnce(ctx context.Context, path string, search bool) (rates [2]float64, err error) {
	u, err := newUploads(ctx, path, search)
	if err != nil {
		return rates, err
	}
	defer u.close()
	var devices [2]uploadingDevice
	for i, way := range keptWays {
		if devices[i], err = u.enrol(ctx, way.name); err != nil {
			return rates, err
		}
	}
	send := func(i, n int) (mb, cpu float64, err error) {
		body, err := devices[i].bodyOf(n, datedNotes(n, keptWays[i].dated))
		if err != nil {
			return 0, 0, err
		}
		before := cpuSeconds()
		status, err := u.send(ctx, devices[i], body)
		if err != nil || status != http.StatusCreated {
			return 0, 0, fmt.Errorf("upload: %d, %w", status, err)
		}
		return float64(len(body)) / 1e6, cpuSeconds() - before, nil
	}
	// Only a stream that has records gets indexes on its fields.
	if _, _, err := send(1, 0); err != nil {
		return rates, err
	}
	for done := false; !done; {
		if done, err = u.store.IndexFields(ctx, uploadRecords, time.Now()); err != nil {
			return rates, err
		}
	}
	var mb, cpu [2]float64
	for n := range uploadBatches {
		for turn := range keptWays {
			i := (turn + n) % len(keptWays) // neither is always the first
			size, took, err := send(i, n+1)
			if err != nil {
				return rates, err
			}
			mb[i], cpu[i] = mb[i]+size, cpu[i]+took
		}
	}
	for i := range rates {
		rates[i] = mb[i] / cpu[i]
	}
	return rates, nil
}

// datedNotes are the records of a batch, of ten days. The time is in a field that is declared, or in one that is not.
func datedNotes(batch int, dated bool) []slice.Record {
	field, whole := "seen", prose()
	if dated {
		field = "at"
	}
	records := make([]slice.Record, uploadRecords)
	for i := range records {
		n := batch*uploadRecords + i
		key, from := fmt.Sprintf("n%06d-%04d", batch, i), n*997%(len(whole)/2)
		at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 24 * time.Hour / (uploadRecords / 10))
		records[i] = slice.Record{Stream: "notes", Key: key, EmittedAt: "2026-03-01T08:00:00Z",
			Data: fmt.Appendf(nil, `{"author":"author-%d","id":%q,"size":%d,"text":%q,%q:%q}`,
				n%50, key, n%10_000, whole[from:from+1900], field, at.Format(time.RFC3339))}
	}
	return records
}

// bodyOf is a batch as a device sends it.
func (d *uploadingDevice) bodyOf(n int, records []slice.Record) ([]byte, error) {
	hash, err := wire.BodyHash(records)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wire.Batch{DeviceID: d.DeviceID, SourceInstanceID: d.ID, ConnectorID: "diary",
		BatchID: fmt.Sprint("b", n), BatchSeq: int64(n + 1), BodyHash: hash, Records: records})
}
