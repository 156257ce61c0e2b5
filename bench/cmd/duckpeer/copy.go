package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// copyOrders reads the orders into a table, copies it to out in each codec, and prints a line
// "copy CODEC SECONDS wall-s SECONDS cpu-s MEGABYTES file-MB" for each.
func copyOrders(ctx context.Context, to io.Writer, orders, out string, codecs []string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE orders AS FROM "+orderTable(orders, "DECIMAL(18,2)")); err != nil {
		return err
	}
	for _, codec := range codecs {
		if err := copyOnce(ctx, to, db, out, codec); err != nil {
			return fmt.Errorf("copy with %s: %w", codec, err)
		}
	}
	return nil
}

func copyOnce(ctx context.Context, to io.Writer, db *sql.DB, out, codec string) error {
	cpu, start := cpuTime(), time.Now()
	if _, err := db.ExecContext(ctx, "COPY orders TO "+quote(out)+" (FORMAT PARQUET, COMPRESSION "+codec+")"); err != nil {
		return err
	}
	cpu, wall := cpuTime()-cpu, time.Since(start)
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "copy %s %.4f wall-s %.4f cpu-s %.3f file-MB\n", codec, wall.Seconds(), cpu.Seconds(), float64(info.Size())/1e6)
	return errors.Join(err, os.Remove(out))
}

// cpuTime is what this process has taken so far, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // only fails for a bad argument
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
