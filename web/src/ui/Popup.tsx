import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button, Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import styles from "./Popup.module.css";

interface Props {
  title: string;
  open: boolean;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}

/** A dialog over the page. Escape and a click beside it close it. */
export function Popup({ title, open, onClose, wide = false, children }: Props) {
  return (
    <ModalOverlay
      className={styles.overlay ?? ""}
      isOpen={open}
      onOpenChange={(now) => !now && onClose()}
      isDismissable
    >
      <Modal className={`${styles.modal} ${wide ? styles.wide : ""}`}>
        <Dialog className={styles.dialog ?? ""}>
          <div className={styles.head}>
            <Heading slot="title" className={styles.title ?? ""}>
              {title}
            </Heading>
            <Button slot="close" className="quiet" aria-label="Close">
              <X size={18} aria-hidden="true" />
            </Button>
          </div>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
