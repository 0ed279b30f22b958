"""A stateful handler for TorchServe: answers with the sum of the numbers of a sequence. `test/node/workers/summing.js` is
its twin."""


class Summing:
    def initialize(self, context):
        self.context = context
        self.sums = {}

    def handle(self, rows, context):
        return [self.answer(row, index, context) for index, row in enumerate(rows)]

    def answer(self, row, index, context):
        sequence = context.get_sequence_id(index)
        header = lambda name: context.get_request_header(index, name)
        # As in TorchServe's examples, the handler says which sequence it was.
        context.set_response_header(index, context.header_key_sequence_id, sequence)
        if header(context.header_key_sequence_start) == "true":
            context.set_response_header(index, context.header_key_sequence_start, "true")
        value = row.get("body") or row.get("data")
        self.sums[sequence] = self.sums.get(sequence, 0) + int(value)
        ends = header(context.header_key_sequence_end) == "true"
        return self.sums.pop(sequence) if ends else self.sums[sequence]
