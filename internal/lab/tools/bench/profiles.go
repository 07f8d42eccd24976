package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
	"github.com/pdpp-go/pdpp/manifest"
)

// A browser's profile as long use of one site makes it.
const (
	profileBytes = 20 << 20
	profileFiles = 200
)

// measureProfiles measures what a run pays for the browser profile of its connection: opening
// it out of the database, and sealing it again.
func measureProfiles(ctx context.Context, c config, dir string, r *report) error {
	st, err := sqlite.Open(ctx, filepath.Join(dir, "profiles.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	now := time.Now()
	if err := st.CreateConnection(ctx, store.Connection{ID: "bench", ConnectorID: "bench", Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}); err != nil {
		return err
	}
	lease, err := st.StartRun(ctx, store.RunStart{RunID: "bench", ConnectionID: "bench", ConnectorID: "bench", Trigger: store.TriggerManual, Holder: "bench", TTL: time.Hour}, now)
	if err != nil {
		return err
	}
	profiles := &browser.Profiles{Root: filepath.Join(dir, "profiles"), Keeper: st, Key: credential.NewKey(), Program: "/bin/true", Memory: []string{"/dev/shm"}}
	m := &manifest.Manifest{ConnectorID: "bench"}
	open, seal, both := []float64{}, []float64{}, []float64{}
	for round := range c.Rounds + 1 {
		used, began := cpu(), time.Now()
		s, err := profiles.Open(ctx, lease, m)
		if err != nil {
			return err
		}
		opened, openCPU := time.Since(began), cpu()-used
		if round == 0 {
			if err := fillProfile(s.Binding(0).Profile); err != nil {
				return err
			}
		}
		used, began = cpu(), time.Now()
		kept, err := s.End(ctx)
		if err != nil || kept.Bytes < profileBytes*9/10 || kept.Trimmed {
			return errors.Join(fmt.Errorf("a profile was kept as %+v", kept), err)
		}
		sealed, sealCPU := time.Since(began), cpu()-used
		if round > 0 {
			open, seal = append(open, milliseconds(opened)), append(seal, milliseconds(sealed))
			both = append(both, milliseconds(openCPU+sealCPU))
		}
	}
	note := fmt.Sprintf("%d MiB in %d files, half of it compressible", profileBytes>>20, profileFiles)
	r.tell(figure{Name: "open a browser profile of 20 MiB", Value: median(open), Unit: "ms", Below: 250, Note: note})
	r.tell(figure{Name: "seal and keep a browser profile of 20 MiB", Value: median(seal), Unit: "ms", Below: 250, Note: note})
	r.tell(figure{Name: "CPU of both", Value: median(both), Unit: "ms"})
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// fillProfile writes files as a browser's databases are: half of their pages are text that
// repeats itself, half are not.
func fillProfile(dir string) error {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range profileFiles {
		page := make([]byte, profileBytes/profileFiles)
		for at := 0; at+8 <= len(page); at += 8 {
			if at/4096%2 == 0 {
				binary.LittleEndian.PutUint64(page[at:], random.Uint64())
			} else {
				copy(page[at:], "https://")
			}
		}
		folder := filepath.Join(dir, "Default", fmt.Sprint("store-", i%10))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%06d.ldb", i)), page, 0o600); err != nil {
			return err
		}
	}
	return nil
}
