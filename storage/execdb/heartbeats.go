package execdb

import (
	"context"
	"time"
)

// Heartbeats tells when the processes of the executions that have not ended showed
// last that they live. One that holds its lock and does not beat is stalled.
func (s *Store) Heartbeats(ctx context.Context) (map[string]time.Time, error) {
	rows, err := s.control.reader.QueryContext(ctx, `SELECT execution.id, process.heartbeat FROM execution JOIN process ON process.id = execution.process WHERE execution.ended = 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	beats := map[string]time.Time{}
	for rows.Next() {
		var id string
		var at int64
		if err := rows.Scan(&id, &at); err != nil {
			return nil, err
		}
		beats[id] = fromMillis(at)
	}
	return beats, rows.Err()
}
