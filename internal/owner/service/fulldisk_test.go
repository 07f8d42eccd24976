package service

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/ops/disk"
)

// TestFullDiskIsShown holds that every overview names a full disk, and that nothing is named while there is room.
func TestFullDiskIsShown(t *testing.T) {
	free := uint64(disk.Full)
	b := newServiceHarness(t, func(c *Config) { c.FreeSpace = func(string) (uint64, error) { return free, nil } })
	b.connect("trowel")
	for _, full := range []bool{false, true} {
		if full {
			free = disk.Full - 1
		}
		o, err := b.Overview(b.ctx())
		b.requireNoError(err)
		const want = "The disk that holds the data is full, so that nothing new can be stored. Free some space first."
		if (o.Indicator != nil) != full || full && o.Indicator.Sentence != want {
			t.Errorf("%d bytes free: %+v", free, o.Indicator)
		}
	}
}
