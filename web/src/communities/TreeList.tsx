// Communities as a tree that can be opened level by level.
import { ChevronRight } from "lucide-react";
import { useMemo } from "react";
import { Button, Collection, Tree, TreeItem, TreeItemContent } from "react-aria-components";
import { Link, useNavigate } from "react-router";
import { counted, number } from "../text/words";
import { communitiesPath, communityPath } from "./address";
import styles from "./Communities.module.css";
import { byParent, type Community, titleOf } from "./labels";
import { Mark } from "./Mark";

interface Props {
  workspace: string;
  communities: readonly Community[];
  /** The community that these are within; null for the outermost. */
  root: string | null;
}

interface Node {
  community: Community;
  parts: Node[];
}

export function TreeList({ workspace, communities, root }: Props) {
  const navigate = useNavigate();
  const nodes = useMemo(() => nested(communities, root), [communities, root]);
  return (
    <Tree
      className={styles.tree ?? ""}
      aria-label="Communities"
      items={nodes}
      onAction={(id) => navigate(communityPath(workspace, String(id)))}
    >
      {(node) => <Row node={node} workspace={workspace} />}
    </Tree>
  );
}

function Row({ node, workspace }: { node: Node; workspace: string }) {
  const { community, parts } = node;
  const hidden = community.parts - parts.length;
  return (
    <TreeItem id={community.id} textValue={titleOf(community)} className={styles.row ?? ""}>
      <TreeItemContent>
        <Button slot="chevron" className={styles.chevron ?? ""} aria-label="Open or close">
          <ChevronRight size={16} aria-hidden="true" />
        </Button>
        <span className={styles.rowTitle} dir="auto">
          {titleOf(community)}
        </span>
        {hidden > 0 && (
          <Link
            className={styles.more}
            to={communitiesPath(workspace, { within: community.id, view: "tree" })}
          >
            {counted(hidden, "part")} not shown
          </Link>
        )}
        <span className={styles.rowSize}>{counted(community.size, "member")}</span>
        <Mark state={community.written} />
      </TreeItemContent>
      <Collection items={parts}>{(part) => <Row node={part} workspace={workspace} />}</Collection>
    </TreeItem>
  );
}

function nested(communities: readonly Community[], root: string | null): (Node & { id: string })[] {
  const within = byParent(communities);
  const inside = (parent: string | null): (Node & { id: string })[] =>
    (within.get(parent) ?? []).map((community) => ({
      id: community.id,
      community,
      parts: inside(community.id),
    }));
  return inside(root);
}

/** "500 of 1,204 communities: the largest"; nothing if all are shown. */
export function shownOf(shown: number, total: number): string {
  return shown < total
    ? `The ${number(shown)} largest of ${counted(total, "community", "communities")} are shown.`
    : counted(total, "community", "communities");
}
