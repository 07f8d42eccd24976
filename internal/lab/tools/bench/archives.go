package main

import (
	"archive/zip"
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/providersim/files"
)

// measureArchives measures the connector of Apple Health on its own: the built-in host reads an
// export, packed and as it is, and what it writes is thrown away.
func measureArchives(ctx context.Context, _ config, dir string, r *report) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	host := filepath.Join(filepath.Dir(p.pdpp), "pdpp-connectors")
	for _, form := range []string{"export.xml", "export.zip"} {
		home := filepath.Join(dir, "health")
		if err := os.MkdirAll(home, 0o700); err != nil {
			return err
		}
		const size = 200 << 20
		records, err := writeHealth(filepath.Join(home, form), size)
		if err != nil {
			return err
		}
		got, err := runHost(ctx, host, "apple_health", []string{"records", "workouts", "coverage_diagnostics"}, []string{"APPLE_HEALTH_EXPORT_DIR=" + home}, nil)
		if err != nil {
			return err
		}
		if int64(got.records) < records {
			return fmt.Errorf("%d of %d measurements came", got.records, records)
		}
		r.tell(figure{Name: "archives: Apple Health, " + form, Value: size / 1e6 / got.cpu, Unit: "MB per CPU-s",
			Note: fmt.Sprintf("%d measurements, %.0f per CPU-s", records, float64(records)/got.cpu)})
		r.tell(figure{Name: "archives: Apple Health, " + form + ", peak RSS", Value: got.rss, Unit: "MiB", Below: 64})
		if err := os.RemoveAll(home); err != nil {
			return err
		}
	}
	return nil
}

// writeHealth writes an export, packed if its name says so, as one that was left there a while ago.
func writeHealth(path string, size int64) (records int64, err error) {
	h, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	if filepath.Ext(path) == ".zip" {
		z := zip.NewWriter(h)
		w, err := z.Create("apple_health_export/export.xml")
		if err != nil {
			return 0, err
		}
		if records, err = files.WriteHealth(w, size, 1); err != nil {
			return 0, err
		}
		if err := z.Close(); err != nil {
			return 0, err
		}
	} else {
		b := bufio.NewWriter(h)
		if records, err = files.WriteHealth(b, size, 1); err != nil {
			return 0, err
		}
		if err := b.Flush(); err != nil {
			return 0, err
		}
	}
	ago := time.Now().Add(-time.Hour)
	return records, os.Chtimes(path, ago, ago)
}
