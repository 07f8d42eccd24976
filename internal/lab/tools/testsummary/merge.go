package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// merge reads files at the same time and gives their lines, each of them whole, in the
// order in which they come. It ends when all have, or with the first error.
func merge(files []string) io.Reader {
	out, in := io.Pipe()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, name := range files {
		all.Go(func() {
			err := eachLine(name, func(line []byte) error {
				mu.Lock()
				defer mu.Unlock()
				_, err := in.Write(line)
				return err
			})
			if err != nil {
				in.CloseWithError(err)
			}
		})
	}
	go func() {
		all.Wait()
		in.Close()
	}()
	return out
}

// eachLine hands over the lines of a file, the last one with its end as well.
func eachLine(name string, use func([]byte) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for in := bufio.NewReader(f); ; {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) > 0 {
			line = append(line, '\n')
		}
		if len(line) > 0 {
			if err := use(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}
