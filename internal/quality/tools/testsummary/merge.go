package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// merge reads files at the same time and hands over their lines with the number of the file, each line
// whole, one after another in the order in which they come. It returns when all files have ended, or fails.
func merge(files []string, use func(file int, line []byte) error) error {
	var mu sync.Mutex
	over := make(chan error, len(files))
	for i, name := range files {
		go func() {
			over <- eachLineOf(name, func(line []byte) error {
				mu.Lock()
				defer mu.Unlock()
				return use(i, line)
			})
		}()
	}
	for range files {
		if err := <-over; err != nil {
			return err
		}
	}
	return nil
}

func eachLineOf(name string, use func([]byte) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := eachLine(f, use); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// eachLine hands over the lines, the last one with an end as well.
func eachLine(r io.Reader, use func([]byte) error) error {
	for in := bufio.NewReader(r); ; {
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
			return err
		}
	}
}
