package hopxml

import (
	"fmt"
	"time"
)

const (
	hopDate       = "2006/01/02 15:04:05.000"
	declaration   = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	blankPipeline = declaration + `<pipeline>
  <info>
    <name/>
    <name_sync_with_filename>Y</name_sync_with_filename>
    <description/>
    <extended_description/>
    <pipeline_version/>
    <pipeline_type>Normal</pipeline_type>
    <parameters>
    </parameters>
    <capture_transform_performance>N</capture_transform_performance>
    <transform_performance_capturing_delay>1000</transform_performance_capturing_delay>
    <transform_performance_capturing_size_limit>100</transform_performance_capturing_size_limit>
    <created_user>-</created_user>
    <created_date/>
    <modified_user>-</modified_user>
    <modified_date/>
  </info>
  <notepads>
  </notepads>
  <order>
  </order>
  <transform_error_handling>
  </transform_error_handling>
  <attributes/>
</pipeline>
`
	blankWorkflow = declaration + `<workflow>
  <name/>
  <name_sync_with_filename>Y</name_sync_with_filename>
  <description/>
  <extended_description/>
  <workflow_version/>
  <created_user>-</created_user>
  <created_date/>
  <modified_user>-</modified_user>
  <modified_date/>
  <parameters>
  </parameters>
  <actions>
  </actions>
  <hops>
  </hops>
  <notepads>
  </notepads>
  <attributes/>
</workflow>
`
)

// NewPipeline is an empty pipeline. created is written as local time of its
// own zone. The document has no file yet; Save gives it one.
func NewPipeline(name string, created time.Time) (*Document, error) {
	return blank(name, blankPipeline, created)
}

// NewWorkflow is an empty workflow, without the start action that it needs to
// run: AddNode with StartType adds one. Otherwise as NewPipeline.
func NewWorkflow(name string, created time.Time) (*Document, error) {
	return blank(name, blankWorkflow, created)
}

func blank(name, template string, created time.Time) (*Document, error) {
	d, err := Parse(name, []byte(template))
	if err != nil {
		return nil, fmt.Errorf("new document: %w", err)
	}
	date := created.Format(hopDate)
	d, err = d.Apply(SetInfo("name", name), SetInfo("created_date", date), SetInfo("modified_date", date))
	if err != nil {
		return nil, err
	}
	return Parse(name, d.Bytes())
}
