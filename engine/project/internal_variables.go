package project

import "strconv"

// Names of the variables that an engine sets about what it runs.
const (
	VariableCurrentFolder = "Internal.Entry.Current.Folder"

	VariablePipelineFile     = "Internal.Pipeline.Filename.Name"
	VariablePipelineFolder   = "Internal.Pipeline.Filename.Directory"
	VariablePipelineName     = "Internal.Pipeline.Name"
	VariablePipelineID       = "Internal.Pipeline.ID"
	VariablePipelineParentID = "Internal.Pipeline.ParentID"

	VariableWorkflowFile     = "Internal.Workflow.Filename.Name"
	VariableWorkflowFolder   = "Internal.Workflow.Filename.Folder"
	VariableWorkflowName     = "Internal.Workflow.Name"
	VariableWorkflowID       = "Internal.Workflow.ID"
	VariableWorkflowParentID = "Internal.Workflow.ParentID"

	VariableTransformName   = "Internal.Transform.Name"
	VariableTransformCopy   = "Internal.Transform.CopyNr"
	VariableTransformID     = "Internal.Transform.ID"
	VariablePartitionID     = "Internal.Transform.Partition.ID"
	VariablePartitionNumber = "Internal.Transform.Partition.Number"

	VariableActionID   = "Internal.Action.ID"
	VariableServerName = "Internal.Server.Name"
)

// Running identifies a pipeline or workflow that is about to run.
type Running struct {
	File     string // plain path or URI; empty when it was never saved
	Name     string
	ID       string // of this execution
	ParentID string // of the execution that started it; empty when none did
}

// SetPipelineVariables sets the internal variables of a pipeline. Those of a
// workflow that started it stay, and without a file name so does the current
// folder.
func SetPipelineVariables(scope *Variables, running Running) {
	values := map[string]string{
		VariablePipelineName:     running.Name,
		VariablePipelineID:       running.ID,
		VariablePipelineParentID: running.ParentID,
	}
	addLocation(values, running.File, VariablePipelineFolder, VariablePipelineFile)
	scope.SetAll(values)
}

// SetWorkflowVariables sets the internal variables of a workflow; see
// [SetPipelineVariables].
func SetWorkflowVariables(scope *Variables, running Running) {
	values := map[string]string{
		VariableWorkflowName:     running.Name,
		VariableWorkflowID:       running.ID,
		VariableWorkflowParentID: running.ParentID,
	}
	addLocation(values, running.File, VariableWorkflowFolder, VariableWorkflowFile)
	scope.SetAll(values)
}

func addLocation(values map[string]string, file, folderName, fileName string) {
	values[folderName], values[fileName] = "", ""
	if file == "" {
		return
	}
	folder, base := splitLocation(file)
	values[folderName], values[fileName] = folder, base
	values[VariableCurrentFolder] = folder
}

// TransformCopy identifies one copy of a transform.
type TransformCopy struct {
	Name            string
	Copy            int // from 0
	ID              string
	PartitionID     string // empty when the transform is not partitioned
	PartitionNumber int    // from 0
}

// SetTransformVariables sets the internal variables of a transform copy; those
// of its partition only when it has one.
func SetTransformVariables(scope *Variables, transform TransformCopy) {
	values := map[string]string{
		VariableTransformName: transform.Name,
		VariableTransformCopy: strconv.Itoa(transform.Copy),
		VariableTransformID:   transform.ID,
	}
	if transform.PartitionID != "" {
		values[VariablePartitionID] = transform.PartitionID
		values[VariablePartitionNumber] = strconv.Itoa(transform.PartitionNumber)
	}
	scope.SetAll(values)
}
