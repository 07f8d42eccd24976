package serve

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// alignEvery is how often it is looked whether what is stored agrees with what is declared.
const alignEvery = 15 * time.Second

// alignPause lets others write between two steps.
const alignPause = 20 * time.Millisecond

// align brings stored records and the indexes on their fields into line with what
// connectors declare now, step by step, for as long as the process runs. A step that fails
// is tried again after the pause.
func (s *process) align(ctx context.Context) {
	for {
		done, err := s.Store.Align(ctx)
		if done && err == nil {
			done, err = s.Store.IndexFields(ctx, store.IndexAbove, s.Now())
		}
		pause := alignPause
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.WarnContext(ctx, "stored records could not be brought into line with their declaration", "error", err)
			pause = alignEvery
		case done:
			pause = alignEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
