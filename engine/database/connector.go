package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// greetingConnector runs statements on every new connection (Hop's SQL_CONNECT).
type greetingConnector struct {
	driver.Connector
	statements []string
}

// Connect implements driver.Connector.
func (g *greetingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := g.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	e, ok := c.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("statements after connecting are not supported by %T", c), c.Close())
	}
	for _, s := range g.statements {
		if _, err := e.ExecContext(ctx, s, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("statement after connecting %q: %w", s, err), c.Close())
		}
	}
	return c, nil
}
